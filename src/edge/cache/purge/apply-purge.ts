import type { Visit } from '../../visit.ts'
import type { Cache } from '../cache.ts'
import { isPurgedBy, pageAddress } from '../decide/cache-key.ts'
import type { OriginFetch } from '../origin/origin-fetch.ts'
import type { Purge } from './purge-feed.ts'

/** A fetch with more purge patterns than this is not stored. */
const MOST_PATTERNS = 200

/**
 * Applies a purge: drops the entries that it concerns, and marks fetches in progress as outdated. Undefined means that
 * some purges were missed.
 */
export function applyPurge(cache: Cache, purge: Purge | undefined): void {
  const { memory, originFetches, options } = cache
  if (!purge) {
    memory.clear()
    options.disk.clear()
  } else if (purge.paths.length > 0) {
    memory.purge(purge.siteId, purge.paths)
    options.disk.purge(purge.siteId, purge.paths)
  }
  for (const [key, originFetch] of originFetches) {
    if (purge && !concerns(purge, originFetch)) {
      // The content of the page is unknown until it arrives.
      if (purge.siteId === originFetch.request.siteId) originFetch.purged.push(...purge.paths)
      if (originFetch.purged.length <= MOST_PATTERNS) continue
    }
    originFetch.isDoomed = true
    originFetch.purged.length = 0
    originFetches.delete(key)
  }
}

function concerns(purge: Purge, { request }: OriginFetch): boolean {
  if (purge.siteId !== request.siteId) return false
  if ((purge.pageEpoch ?? 0) > request.epochs.page || (purge.fileEpoch ?? 0) > request.epochs.file) return true
  return purge.paths.some((pattern) => isPurgedBy(request.path, pattern))
}

/**
 * Drops what is stored for an address that was written to, and for addresses of the same host that the answer names
 * (RFC 9111 §4.4).
 */
export function forgetAfterWrite(cache: Cache, visit: Visit, address: string): undefined {
  if (visit.method === 'OPTIONS') return
  visit.observers ??= []
  visit.observers.push({
    head(status, headers) {
      if (status >= 400) return
      forget(cache, address)
      for (let i = 0; i < headers.length; i += 2) {
        if (!/^(?:content-)?location$/i.test(headers[i] as string)) continue
        const named = addressFrom(visit, headers[i + 1] as string)
        if (named) forget(cache, named)
      }
    },
  })
}

function forget({ memory, options, originFetches }: Cache, address: string): void {
  memory.forget(address)
  options.disk.forgetAddress(address)
  for (const [key, originFetch] of originFetches) {
    if (originFetch.request.address !== address) continue
    originFetch.isDoomed = true
    originFetches.delete(key)
  }
}

/**
 * @returns the key of the address that a header of an answer names, or undefined for another origin or an uncacheable
 *   address
 */
function addressFrom({ client, host, target }: Visit, reference: string): string | undefined {
  const here = `${client.scheme}://${host}`
  const url = URL.parse(reference, `${here}${target}`)
  if (url?.origin !== new URL(here).origin) return undefined
  return pageAddress(client.scheme, host, url.pathname + url.search)?.key
}
