import type { Check } from './check.ts'

/**
 * Responses while a process is down: no connection, or 502 or 503 with Retry-After. Never an internal error, and
 * nothing that this load sends is wrong in itself. 401: a token expired when the clock was set ahead.
 */
const allowed: Record<string, readonly RegExp[]> = {
  api: [/^(no answer|20\d|401|409|503)$/],
  token: [/^(no answer|200|503)$/],
  visit: [/^(no answer|200|502|503)$/],
}

export const answers: Check = {
  name: 'answers',
  async run({ ledger, lines }) {
    const unexpected = Object.entries(ledger.answers())
      .filter(([line]) => {
        const [, surface, answer] = /^(\S+) (.*)$/.exec(line) ?? []
        return !allowed[surface as string]?.some((pattern) => pattern.test(answer as string))
      })
      .map(([line, times]) => `${line}, ${times} times`)
    return unexpected.length > 0 ? [...unexpected, ...new Set(lines.flatMap(failureIn))] : []
  },
}

/** Finds log entries about requests that failed internally, to explain a failure. */
function failureIn(line: string): string[] {
  if (!/"(request failed|could not handle a request)"/.test(line)) return []
  try {
    const { msg, part, err } = JSON.parse(line) as { msg: string; part: string; err?: { stack?: string } }
    // the API's response says what failed
    return part === 'control' ? [] : [`the log says, ${part}: ${msg}: ${err?.stack?.split('\n').slice(0, 4).join(' ')}`]
  } catch {
    return [line] // two processes wrote at once
  }
}
