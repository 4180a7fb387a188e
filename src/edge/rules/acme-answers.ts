import { ACME_CHALLENGES } from '../acme.ts'
import type { Route } from '../routing/route.ts'
import type { Rule } from '../visit.ts'

const TOKEN = /^[\w-]{1,200}$/

/**
 * Answers a certificate authority for names whose certificates are ordered here (RFC 8555 §8.3). Leaves other
 * challenges to the site.
 * @param reach reads routes again: the order may be a moment old, and the authority asks once
 * @param own returns the challenge of a name of the installation itself, which no site has
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
    // Names that do not want our certificate do not need another read.
    if (answer || route.challenge === undefined) return answer
    return reach(visit.hostName).then((found) => found && answerOf(found, token))
  }
}
