import { pino } from 'pino'

/** What the parts log with: pino's methods, one JSON object a line. */
export type Log = Pick<pino.Logger, 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'isLevelEnabled'> & {
  child(bindings: Record<string, unknown>): Log
}

/** @param part `control`, `host`, …: on every line */
export function createLog(level: string, part: string): Log {
  return pino({
    level,
    base: { part },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: ['*.authorization', '*.client_secret', '*.password', '*.secret', '*.token'],
  })
}

/** For tests and tools that want silence. */
export const noLog: Log = pino({ level: 'silent' })
