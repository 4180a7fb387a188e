import { plainPage } from '../../platform/plain-page.ts'
import { pageAnswer } from '../page-answer.ts'
import type { Rule } from '../visit.ts'

const page = plainPage({
  status: 501,
  title: 'WebSockets are not supported',
  text: 'This site supports plain HTTP requests only.',
})

/**
 * Refuses WebSockets, because their client would take a page for a broken handshake. A server may ignore other upgrades
 * (RFC 9110 §7.8), such as the `h2c` that curl offers, and answer the request normally.
 */
export const refusedUpgrades: Rule = (visit) => {
  const { upgrade } = visit.request.headers
  return upgrade && /\bwebsocket\b/i.test(upgrade) ? pageAnswer(visit, page, [], true) : undefined
}
