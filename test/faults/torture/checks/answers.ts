import type { Check } from './check.ts'

/**
 * Where a part is down: no connection, 502 or 503 that says when to come back. Never a failure of Stead itself, and nothing that
 * this load does is wrong in itself. 401: a token that ran out as the clock was set ahead.
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

/** What the log says of requests that failed inside, to find out by. */
function failureIn(line: string): string[] {
  if (!/"(request failed|could not handle a request)"/.test(line)) return []
  try {
    const { msg, part, err } = JSON.parse(line) as { msg: string; part: string; err?: { stack?: string } }
    // the API says itself what it could not do
    return part === 'control' ? [] : [`the log says, ${part}: ${msg}: ${err?.stack?.split('\n').slice(0, 4).join(' ')}`]
  } catch {
    return [line] // two processes wrote at once
  }
}
