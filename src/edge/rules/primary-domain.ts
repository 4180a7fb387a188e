import { plainPage } from '../../platform/plain-page.ts'
import { isAcmeChallenge } from '../acme.ts'
import { pageAnswer } from '../page-answer.ts'
import type { Rule } from '../visit.ts'

const pages = new Map(
  ([301, 308] as const).map((status) => [
    status,
    plainPage({ status, title: 'This page has another address', text: 'Your browser is on its way there.' }),
  ]),
)

/**
 * Redirects visitors of a site's other domains to the same page on its primary one. Anything but GET and HEAD keeps its
 * body (308). Browsers do not store it (`pageAnswer`), because another domain may be primary tomorrow.
 */
export const primaryDomain: Rule = (visit) => {
  const { route, target, method, client, host, hostName } = visit
  if (!route?.redirectsTo || isAcmeChallenge(target)) return undefined
  const page = pages.get(method === 'GET' || method === 'HEAD' ? 301 : 308)
  // On the port that the visitor used.
  const location = `${client.scheme}://${route.redirectsTo}${host.slice(hostName.length)}${target}`
  return page && pageAnswer(visit, page, ['Location', location])
}
