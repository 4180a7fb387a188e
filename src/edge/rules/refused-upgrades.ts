import { plainPage } from '../../platform/plain-page.ts'
import { pageAnswer } from '../answer.ts'
import type { Rule } from '../visit.ts'

const page = plainPage({
  status: 501,
  title: 'WebSockets are not supported',
  text: 'This site supports plain HTTP requests only.',
})

/**
 * WebSockets need an answer: their client would take a page for a broken handshake. Other upgrades, such as the `h2c` that
 * curl offers, are an offer that a server may ignore (RFC 9110 §7.8), and the request is answered as it is.
 */
export const refusedUpgrades: Rule = (visit) => {
  const { upgrade } = visit.request.headers
  return upgrade && /\bwebsocket\b/i.test(upgrade) ? pageAnswer(visit, page, [], true) : undefined
}
