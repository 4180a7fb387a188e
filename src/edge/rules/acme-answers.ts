import { ACME_CHALLENGES } from '../acme.ts'
import type { Route } from '../routing/route.ts'
import type { Rule } from '../visit.ts'

const TOKEN = /^[\w-]{1,200}$/

/**
 * Answers a certificate authority for names whose certificates are being ordered here (RFC 8555 §8.3). Other challenges are the site's own
 * to answer.
 * @param reach reads routes again: the order may be a moment old, and the authority asks once
 * @param own what a name of the installation itself that no site has is asked for
 */
export function createAcmeAnswers(
  reach: (hostName: string) => Promise<Route | undefined>,
  own: (hostName: string) => Promise<Route['challenge']> | undefined = () => undefined,
): Rule {
  const answerOf = ({ challenge }: Pick<Route, 'challenge'>, token: string) =>
    challenge?.token === token
      ? {
          status: 200,
          headers: ['Content-Type', 'application/octet-stream', 'Cache-Control', 'no-store'],
          body: Buffer.from(challenge.answer),
        }
      : undefined
  return (visit) => {
    const { route, target } = visit
    if (!target.startsWith(ACME_CHALLENGES)) return undefined
    const token = target.slice(ACME_CHALLENGES.length)
    if (!TOKEN.test(token)) return undefined
    if (!route) return own(visit.hostName)?.then((challenge) => answerOf({ challenge }, token))
    const answer = answerOf(route, token)
    // names that want no certificate of ours have nothing to be read again
    if (answer || route.challenge === undefined) return answer
    return reach(visit.hostName).then((found) => found && answerOf(found, token))
  }
}
