import { plainPage } from '../../platform/plain-page.ts'
import { isAcmeChallenge } from '../acme.ts'
import { pageAnswer } from '../answer.ts'
import type { Rule } from '../visit.ts'

const pages = new Map(
  ([301, 308] as const).map((status) => [
    status,
    plainPage({ status, title: 'This page has another address', text: 'Your browser is on its way there.' }),
  ]),
)

/**
 * Visitors of the other domains of a site go to its primary one, to the same page. Anything but a look takes its body along (308). No browser
 * keeps it (`pageAnswer`): another domain may be primary tomorrow.
 */
export const primaryDomain: Rule = (visit) => {
  const { route, target, method, client, host, hostName } = visit
  if (!route?.redirectsTo || isAcmeChallenge(target)) return undefined
  const page = pages.get(method === 'GET' || method === 'HEAD' ? 301 : 308)
  // by the door that he came in
  const location = `${client.scheme}://${route.redirectsTo}${host.slice(hostName.length)}${target}`
  return page && pageAnswer(visit, page, ['Location', location])
}
