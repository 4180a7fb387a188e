import { pino } from 'pino'
import { freshLine } from '../terminal/fresh-line.ts'
import { standardOutput } from '../terminal/standard-output.ts'
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
  const { isTTY } = standardOutput
  const isText = formatFor(format, isTTY) === 'text'
  const colors = isTTY && process.stdout.hasColors()
  // a progress bar may stand there
  const printed = (line: string) => freshLine(standardOutput) + (isText ? logText(line, { colors }) : line)
  standardOutput.describeGap = (lines) => {
    let line = ''
    pino({ ...options, level: 'warn' }, { write: (text) => (line = text) }).warn(
      { lines },
      'the reader of this log was too slow, lines are missing here',
    )
    return printed(line)
  }
  return pino(options, { write: (line) => standardOutput.write(printed(line)) })
}

/** What is written where. */
export const formatFor = (format: LogOptions['logFormat'], isTerminal: boolean): 'text' | 'json' =>
  format === 'auto' ? (isTerminal ? 'text' : 'json') : format

/** For tests and tools that want silence. */
export const noLog: Log = pino({ level: 'silent' })
