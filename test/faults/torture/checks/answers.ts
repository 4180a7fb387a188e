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
  async run({ ledger }) {
    return Object.entries(ledger.answers())
      .filter(([line]) => {
        const [, surface, answer] = /^(\S+) (.*)$/.exec(line) ?? []
        return !allowed[surface as string]?.some((pattern) => pattern.test(answer as string))
      })
      .map(([line, times]) => `${line}, ${times} times`)
  },
}
