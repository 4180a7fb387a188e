import { edgeHeaders } from '../forwarding.ts'
import type { Visit } from '../visit.ts'

/** What of a visitor's request may shape a page that others get, too. */
const SHARED = new Set(['user-agent', 'accept', 'accept-language'])

/**
 * Headers of a request to the host whose answer is to be kept, raw and flat. Only what hardly any page depends on is taken from the
 * visitor, so that nobody can have a page stored that was made for his own odd headers; no cookies, no conditions, no
 * ranges, and no coding: copies are compressed here.
 * @param etag of the stored copy that is asked about, else empty
 */
export function fillHeaders(visit: Visit, siteId: number, hostKey: string, etag: string): string[] {
  const out = edgeHeaders(visit, siteId, hostKey)
  const { rawHeaders } = visit.request
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] as string).toLowerCase()
    if (SHARED.has(name)) out.push(name, rawHeaders[i + 1] as string)
  }
  if (etag !== '') out.push('if-none-match', etag)
  return out
}
