import { pino } from 'pino'
import { describe, expect, test } from 'vitest'
import { formatFor } from './log.ts'
import { logText } from './log-text.ts'

/** Returns the text for pino's output. */
function lineOf(log: (logger: pino.Logger) => void, options?: { colors: boolean }): string {
  const lines: string[] = []
  log(pino({ base: { part: 'host' }, timestamp: pino.stdTimeFunctions.isoTime }, { write: (line) => lines.push(line) }))
  return lines.map((line) => logText(line, options)).join('')
}

describe('a line for a terminal', () => {
  test('has time, role, message and fields; a severity only if it is not the usual one', () => {
    expect(lineOf((log) => log.info({ site: 3, reason: 'two words', port: '8081' }, 'a site started'))).toMatch(
      /^\d\d:\d\d:\d\d {2}host {8}a site started {2}site=3 {2}reason="two words" {2}port=8081\n$/,
    )
    expect(lineOf((log) => log.warn('the disk is nearly full'))).toContain('  warning  the disk is nearly full\n')
  })

  test('has the time of this machine', () => {
    const at = new Date(2026, 10, 27, 9, 5, 7)
    expect(logText(JSON.stringify({ level: 30, time: at.toISOString(), part: 'edge', msg: 'x' }))).toMatch(/^09:05:07 /)
  })

  test("has an error's stack below, one line each", () => {
    const text = lineOf((log) => log.error({ err: new Error('broken'), site: 1 }, 'a task failed'))
    const [first, second, third] = text.split('\n')
    expect(first).toMatch(/error {2}a task failed {2}site=1$/)
    expect(second).toBe('    Error: broken')
    expect(third).toMatch(/^ {4}at /)
  })

  test('contains no terminal commands that a visitor sent', () => {
    const text = lineOf((log) => log.info({ path: '/\u001b[2J\u009b1m', list: ['\u0007'] }, 'asked\r\nfor \u001b]0;x'))
    expect(text.slice(0, -1)).not.toMatch(/\p{Cc}/u)
    expect(text).toContain('asked\\x0d\\x0afor \\x1b]0;x')
  })

  test('marks problems with colors, only on request', () => {
    const log = (logger: pino.Logger) => logger.error('broken')
    expect(lineOf(log, { colors: true })).toContain('\u001b[31merror\u001b[0m')
    expect(lineOf(log)).not.toContain('\u001b')
  })
})

test.each([
  ['auto', true, 'text'],
  ['auto', false, 'json'],
  ['json', true, 'json'],
  ['text', false, 'text'],
] as const)('format %s, on a terminal: %s, is %s', (format, isTerminal, expected) => {
  expect(formatFor(format, isTerminal)).toBe(expected)
})
