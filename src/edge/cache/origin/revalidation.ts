import { headerOf } from '../../../platform/http/request/raw-headers.ts'
import { varyKeyOf } from '../decide/vary-key.ts'
import { IDENTITY } from '../store/encodings.ts'
import { bodyBytes, createEntry, type Draft, type Entry, opaque, putBody } from '../store/entry.ts'

/** Headers of the stored body (RFC 9111 §3.2), which a 304 does not update. */
const NOT_UPDATED = new Set(['content-encoding', 'content-length', 'content-md5', 'content-range', 'etag'])

/**
 * Returns the headers of an entry after the host has confirmed it (RFC 9111 §4.3.4).
 * @param told of its 304, raw and flat
 * @returns as of a complete response
 */
export function updatedHeaders(entry: Entry, told: readonly string[]): string[] {
  const isNew = (name: string) => !NOT_UPDATED.has(name.toLowerCase())
  // The old date belongs to the previous answer.
  const replaced = new Set(['date'])
  const out = entry.hostEtag === '' ? [] : ['ETag', entry.hostEtag]
  for (let i = 0; i < told.length; i += 2) {
    const name = told[i] as string
    if (!isNew(name)) continue
    replaced.add(name.toLowerCase())
    out.push(name, told[i + 1] as string)
  }
  for (let i = 0; i < entry.headers.length; i += 2)
    if (!replaced.has((entry.headers[i] as string).toLowerCase()))
      out.push(entry.headers[i] as string, entry.headers[i + 1] as string)
  return out
}

/** Returns an entry with the same body and these headers. Readers of the old entry keep it unchanged. */
export function revalidatedEntry(
  entry: Entry,
  draft: Pick<Draft, 'headers' | 'lifetime' | 'epoch' | 'nowMs' | 'shows'>,
): Entry {
  const { key, variantOf, varyKey, path, siteId, tier, status, reason, renderer, etag, bodies } = entry
  const body = bodies[IDENTITY] as Buffer
  const shows = entry.shows.join(' ')
  const renewed = createEntry({
    key,
    variantOf,
    varyKey,
    path,
    shows,
    siteId,
    tier,
    status,
    reason,
    renderer,
    etag,
    body,
    ...draft,
  })
  renewed.hits = entry.hits
  if (!renewed.isCompressible) return renewed
  for (const [coding, copy] of bodies.entries()) {
    if (!copy || coding === IDENTITY) continue
    putBody(renewed, coding, copy)
    renewed.asked |= 1 << coding
    renewed.bytes += bodyBytes(renewed, copy)
  }
  return renewed
}

/**
 * Returns whether a 304 is about this entry. With another validator, or a longer vary key, it is about something else
 * (RFC 9111 §4.3.4).
 */
export function isAbout({ hostEtag, varyKey }: Entry, told: readonly string[]): boolean {
  const etag = headerOf(told, 'etag')
  const says = varyKeyOf(told)
  if (!says?.by.every((name) => varyKey.by.includes(name)) || (says.byCookie && !varyKey.byCookie)) return false
  return etag === undefined || hostEtag === '' || opaque(etag) === opaque(hostEtag)
}
