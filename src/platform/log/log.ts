import { pino } from 'pino'
import { freshLine } from '../terminal/fresh-line.ts'
import { logText } from './log-text.ts'

/** What the parts log with: pino's methods. */
export type Log = Pick<pino.Logger, 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'isLevelEnabled'> & {
  child(bindings: Record<string, unknown>): Log
}

/** Settings of the log. */
export interface LogOptions {
  readonly logLevel: string
  /** `auto`: text on a terminal, else one JSON object a line. */
  readonly logFormat: 'auto' | 'text' | 'json'
}

/** Colors follow NO_COLOR and TERM, as Node reads them. @param part `control`, `host`, …: on every line */
export function createLog({ logLevel: level, logFormat: format }: LogOptions, part: string): Log {
  const options = {
    level,
    base: { part },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: ['*.authorization', '*.client_secret', '*.password', '*.secret', '*.token'],
  }
  outliveReaders()
  const { isTTY } = process.stdout
  const isText = formatFor(format, isTTY) === 'text'
  // without a stream of its own pino writes at once, and faster
  if (!isTTY && !isText) return pino(options)
  const colors = isTTY && process.stdout.hasColors()
  const write = (line: string) => {
    // a progress bar may stand there
    process.stdout.write(freshLine(process.stdout) + (isText ? logText(line, { colors }) : line))
  }
  return pino(options, { write })
}

/** Keeps the process when what reads its output ends, such as a pager: lines are then lost, and sites are served. */
function outliveReaders(): void {
  for (const stream of [process.stdout, process.stderr]) {
    if (stream.listenerCount('error') > 0) continue
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error
    })
  }
}

/** What is written where. */
export const formatFor = (format: LogOptions['logFormat'], isTerminal: boolean): 'text' | 'json' =>
  format === 'auto' ? (isTerminal ? 'text' : 'json') : format

/** For tests and tools that want silence. */
export const noLog: Log = pino({ level: 'silent' })
