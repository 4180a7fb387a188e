import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { LRUCache } from 'lru-cache'
import { Htaccess } from '../../hosting/htaccess/htaccess.ts'
import { phpRecord } from '../../hosting/php-log/php-records.ts'
import type { SiteChanges } from '../../hosting/site-changes/site-changes.ts'
import { HOUR_MS } from '../../platform/durations.ts'
import type { ProcessContext } from '../process-context.ts'

/** The most log lines of one site per hour. A site may change its files all the time. */
const MOST_TOLD = 100

/** Reads the `.htaccess` files of the host's sites. */
export function openHtaccess({ config, log, logs }: ProcessContext, changes: SiteChanges): Htaccess {
  const told = new LRUCache<number, Set<string>>({ max: 1_000, ttl: HOUR_MS })
  return new Htaccess({
    log,
    memory: join(config.dataDir, 'htaccess-folders.jsonl'),
    changed: (siteId) => changes.take(siteId, JSON.stringify({ changed: { all: true, files: true } })),
    told(siteId, file, line, what) {
      const ofSite = told.get(siteId) ?? new Set()
      const key = `${file}:${line}:${what}`
      if (ofSite.has(key) || ofSite.size >= MOST_TOLD) return
      told.set(siteId, ofSite.add(key), { noUpdateTTL: true })
      const message = `${file}: not supported: ${what}`
      const id = crc32(key)
      const record = phpRecord(
        { siteId, atMs: Date.now(), id },
        { message, severity: 'Warning', file, line: line || -1 },
      )
      logs.append('php', [record]).catch((error) => log.warn({ err: error, siteId }, "lost a line of a site's log"))
    },
  })
}
