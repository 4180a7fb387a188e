import { plainPage } from '../../platform/plain-page.ts'
import { pageAnswer } from '../page-answer.ts'
import type { Route } from '../routing/route.ts'
import type { Rule } from '../visit.ts'

const page = (status: 301 | 308) =>
  plainPage({ status, title: 'This site is at another address', text: 'It is available over https only.' })
const moved = page(301)
/** Makes the client repeat its request unchanged. */
const movedWithBody = page(308)

/**
 * Redirects visitors to https for names that are served only there. Not without a valid certificate: they would get a
 * browser warning.
 * @param port where visitors reach the edge over TLS
 */
export function createToHttps(port: number, now: () => number = Date.now): Rule {
  return (visit) => {
    const { route, client, hostName, target, method } = visit
    if (!route?.forceTls || client.scheme === 'https' || !isCertified(route, now)) return undefined
    const location = `https://${hostName}${port === 443 ? '' : `:${port}`}${target}`
    const isPlain = method === 'GET' || method === 'HEAD'
    return pageAnswer(visit, isPlain ? moved : movedWithBody, ['Location', location])
  }
}

const isCertified = ({ certifiedAt, certifiedUntil }: Route, now: () => number): boolean =>
  Boolean(certifiedAt) && (!certifiedUntil || now() < certifiedUntil)
