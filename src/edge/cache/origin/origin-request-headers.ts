import { edgeHeaders } from '../../proxy/forwarding.ts'
import type { Visit } from '../../visit.ts'
import type { Selected } from '../decide/vary-key.ts'
import type { Entry } from '../store/entry.ts'

/**
 * What the host is told of who asks: no visitor's own words. A page that was made for one visitor's browser or language would be
 * everybody's; for a site that tells phones from other devices (`wp_is_mobile`) this is none.
 */
const NEUTRAL = ['user-agent', 'Mozilla/5.0 (compatible; Stead)', 'accept', '*/*']

/**
 * Headers of a request to the host whose answer is to be kept, raw and flat. Nothing but the address is the visitor's, so that
 * nobody can have a page stored that was made for his own odd headers; no cookies, no conditions, no ranges, and no coding:
 * copies are compressed here.
 * @param selected what the visitor says where the address has several copies: such headers are those of everybody who gets the copy
 * @param known the stored copy that is asked about, by its strongest validator (RFC 9110 §13.1)
 */
export function originRequestHeaders(
  visit: Visit,
  { siteId, hostKey }: { readonly siteId: number; readonly hostKey: string },
  selected: Selected | undefined,
  known: Entry | undefined,
): string[] {
  const out = [...edgeHeaders(visit, siteId, hostKey)]
  for (let i = 0; i < NEUTRAL.length; i += 2)
    if (!selected?.by.includes(NEUTRAL[i] as string)) out.push(NEUTRAL[i] as string, NEUTRAL[i + 1] as string)
  out.push(...(selected?.headers ?? []))
  // nothing in it is of one visitor, or of what is kept already
  if (!selected && !known) out.push('x-stead-for-all', '1')
  if (known?.status !== 200) return out
  if (known.hostEtag !== '') out.push('if-none-match', known.hostEtag)
  else if (known.lastModified !== '') out.push('if-modified-since', known.lastModified)
  return out
}
