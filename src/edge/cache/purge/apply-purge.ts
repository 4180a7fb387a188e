import type { Visit } from '../../visit.ts'
import type { Cache } from '../cache.ts'
import { isPurgedBy, pageAddress } from '../decide/key.ts'
import type { OriginFetch } from '../origin/origin-fetch.ts'
import type { Purge } from './purge-feed.ts'

/** A page that so much of its site has changed under is not kept. */
const MOST_PATTERNS = 200

/** A purge (undefined: some were missed): what it concerns is gone, and what is being fetched will be from before it. */
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
      // what it shows is not known before it is here
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
 * RFC 9111 §4.4: what was stored of an address that has been written to is not served any more, nor of those of the same host
 * where the answer says that something is now.
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

/** @returns the key of what a reference of an answer names; undefined: another origin's, or nothing that is kept */
function addressFrom({ client, host, target }: Visit, reference: string): string | undefined {
  const here = `${client.scheme}://${host}`
  const url = URL.parse(reference, `${here}${target}`)
  if (url?.origin !== new URL(here).origin) return undefined
  return pageAddress(client.scheme, host, url.pathname + url.search)?.key
}
