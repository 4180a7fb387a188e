import type { Visit } from '../visit.ts'
import type { Fill } from './fill.ts'
import { isPurgedBy } from './key.ts'
import type { Cache } from './page-cache.ts'
import type { Purge } from './purge-feed.ts'

/** A purge (undefined: some were missed): what it concerns is gone, and what is being fetched will be from before it. */
export function letGo(cache: Cache, purge: Purge | undefined): void {
  const { memory, fills, options } = cache
  if (!purge) {
    memory.clear()
    options.disk.clear()
  } else if (purge.paths.length > 0) {
    memory.purge(purge.siteId, purge.paths)
    options.disk.purge(purge.siteId, purge.paths)
  }
  for (const [key, fill] of fills) {
    if (purge && !concerns(purge, fill)) continue
    fill.isDoomed = true
    fills.delete(key)
  }
}

function concerns(purge: Purge, { request }: Fill): boolean {
  if (purge.siteId !== request.siteId) return false
  if ((purge.pageEpoch ?? 0) > request.epochs.page || (purge.fileEpoch ?? 0) > request.epochs.file) return true
  return purge.paths.some((pattern) => isPurgedBy(request.path, pattern))
}

/** RFC 9111 §4.4: what was stored of an address that has been written to is not served any more. */
export function forgetAfterWrite(cache: Cache, visit: Visit, key: string): undefined {
  if (visit.method === 'OPTIONS') return
  visit.observers ??= []
  visit.observers.push({
    head(status) {
      if (status >= 400) return
      const entry = cache.memory.get(key)
      if (entry) cache.memory.remove(entry)
      cache.options.disk.forget(key)
      const fill = cache.fills.get(key)
      if (!fill) return
      fill.isDoomed = true
      cache.fills.delete(key)
    },
  })
}
