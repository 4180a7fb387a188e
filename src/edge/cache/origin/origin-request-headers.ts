import { edgeHeaders, type RoutedSite } from '../../proxy/forwarding.ts'
import type { Visit } from '../../visit.ts'
import type { Selected } from '../decide/vary-key.ts'
import type { Entry } from '../store/entry.ts'

/**
 * Replaces the visitor's values. With them, everyone would get a page for the browser or language of one visitor. Sites
 * that tell phones from other devices (`wp_is_mobile`) see no phone.
 */
const NEUTRAL = ['user-agent', 'Mozilla/5.0 (compatible; Stead)', 'accept', '*/*']

/**
 * Returns the headers, raw and flat, of a request to the host whose answer will be stored. Only the address comes from
 * the visitor, so that nobody can use unusual headers to change the stored page. It has no cookies, conditions, or
 * ranges, and no coding, because the edge compresses.
 * @param selected the visitor's values if the address has variants: everyone who gets the variant sends them
 * @param known the stored entry to revalidate, by its strongest validator (RFC 9110 §13.1)
 */
export function originRequestHeaders(
  visit: Visit,
  { route, hostKey }: { readonly route: RoutedSite; readonly hostKey: string },
  selected: Selected | undefined,
  known: Entry | undefined,
): string[] {
  const out = [...edgeHeaders(visit, route, hostKey)]
  for (let i = 0; i < NEUTRAL.length; i += 2)
    if (!selected?.by.includes(NEUTRAL[i] as string)) out.push(NEUTRAL[i] as string, NEUTRAL[i + 1] as string)
  out.push(...(selected?.headers ?? []))
  // Nothing in it belongs to one visitor, or to a stored entry.
  if (!selected && !known) out.push('x-stead-for-all', '1')
  if (known?.status !== 200) return out
  if (known.hostEtag !== '') out.push('if-none-match', known.hostEtag)
  else if (known.lastModified !== '') out.push('if-modified-since', known.lastModified)
  return out
}
