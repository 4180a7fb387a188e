import { pino } from 'pino'
import { freshLine } from '../terminal/fresh-line.ts'
import { standardOutput } from '../terminal/standard-output.ts'
import { logText } from './log-text.ts'

/** The log of the roles, with pino's methods. */
export type Log = Pick<pino.Logger, 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'isLevelEnabled'> & {
  child(bindings: Record<string, unknown>): Log
}

/** The settings of the log. */
export interface LogOptions {
  readonly logLevel: string
  /** `auto`: text on a terminal, otherwise one JSON object per line. */
  readonly logFormat: 'auto' | 'text' | 'json'
}

/**
 * Creates a log. Colors follow NO_COLOR and TERM, as Node reads them.
 * @param part `control`, `host`, …, which every line contains
 */
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
  // The terminal may show a progress bar there.
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

/** Returns the format for an output. */
export const formatFor = (format: LogOptions['logFormat'], isTerminal: boolean): 'text' | 'json' =>
  format === 'auto' ? (isTerminal ? 'text' : 'json') : format

/** A silent log for tests and tools. */
export const noLog: Log = pino({ level: 'silent' })
