import { pino } from 'pino'
import { freshLine } from '../terminal/fresh-line.ts'

/** What the parts log with: pino's methods, one JSON object a line. */
export type Log = Pick<pino.Logger, 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'isLevelEnabled'> & {
  child(bindings: Record<string, unknown>): Log
}

/** @param part `control`, `host`, …: on every line */
export function createLog(level: string, part: string): Log {
  const options = {
    level,
    base: { part },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: ['*.authorization', '*.client_secret', '*.password', '*.secret', '*.token'],
  }
  return process.stdout.isTTY ? pino(options, besideProgress) : pino(options)
}

/** For a terminal, on which a progress bar may stand. */
const besideProgress = {
  write: (line: string) => void process.stdout.write(`${freshLine(process.stdout)}${line}`),
}

/** For tests and tools that want silence. */
export const noLog: Log = pino({ level: 'silent' })
