/** Formats one line of the log for people on a terminal. Elsewhere the log is JSON. */

/** The severities by pino's numbers. */
const severities: Readonly<Record<number, string>> = {
  10: 'trace',
  20: 'debug',
  30: '',
  40: 'warning',
  50: 'error',
  60: 'fatal',
}
const COLORS: Readonly<Record<string, string>> = { warning: '\u001b[33m', error: '\u001b[31m', fatal: '\u001b[31m' }
const PLAIN = '\u001b[0m'
const LONGEST_PART = 'supervisor'.length

/**
 * Formats a line.
 * @param json a line of pino's output
 * @param options.colors whether the terminal shows colors
 * @returns the time of this machine, the role, the severity unless `info`, the message and fields; the stack of an
 * error is on separate lines. Control characters are escaped, because values also come from visitors, and a terminal
 * obeys them
 */
export function logText(json: string, { colors = false } = {}): string {
  const { level, time, part, msg, err, ...fields } = JSON.parse(json) as Record<string, unknown>
  const severity = severities[level as number] ?? String(level)
  const color = colors ? (COLORS[severity] ?? '') : ''
  const words = [
    clock(new Date(String(time))),
    String(part ?? '').padEnd(LONGEST_PART),
    severity && (color ? `${color}${severity}${PLAIN}` : severity),
    msg === undefined ? '' : shown(String(msg)),
    ...Object.entries(fields).map(([name, value]) => `${name}=${valueText(value)}`),
  ]
  return `${words.filter((word) => word !== '').join('  ')}\n${errorText(err)}`
}

const clock = (at: Date): string =>
  [at.getHours(), at.getMinutes(), at.getSeconds()].map((n) => String(n).padStart(2, '0')).join(':')

function valueText(value: unknown): string {
  if (typeof value !== 'string') return shown(JSON.stringify(value) ?? '')
  return /^[^\s"=]+$/.test(value) ? shown(value) : shown(JSON.stringify(value))
}

function errorText(error: unknown): string {
  if (typeof error !== 'object' || error === null) return error === undefined ? '' : `    ${shown(String(error))}\n`
  const { stack, message } = error as { stack?: unknown; message?: unknown }
  return String(stack ?? message ?? JSON.stringify(error))
    .split('\n')
    .map((line) => `    ${shown(line.trim())}\n`)
    .join('')
}

/** Escapes control characters: ASCII's, DEL, and the second set, which some terminals obey (ECMA-48). */
const shown = (text: string): string =>
  text.replace(/\p{Cc}/gu, (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`)
