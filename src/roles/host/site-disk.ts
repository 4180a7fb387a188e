import { LRUCache } from 'lru-cache'
import { DiskWatch } from '../../hosting/site-files/disk-watch.ts'
import type { Budget } from '../../platform/budgets/budget.ts'
import { keptFromSites } from '../../platform/files/free-room.ts'
import { diskQuota, tellDiskFull } from '../../resources/sites/site-disk.ts'
import type { Ground } from '../part.ts'

/** Keeps sites within their disk quotas, and tells their owners. */
export function watchDisk({ config, database, log }: Ground, shown: Budget): DiskWatch {
  const idOf = (homePath: string) => Number(/\/h(\d+)$/.exec(homePath)?.[1])
  // a site that cannot write may say so at each of its requests
  const told = new LRUCache<string, true>({ max: 10_000, ttl: 60_000 })
  return new DiskWatch({
    folder: config.dataDir,
    shown,
    keepFreeBytes: keptFromSites(config.diskReserveMb << 20),
    quotaOf: async (homePath) => (idOf(homePath) ? diskQuota(database, idOf(homePath), config) : undefined),
    onRefusal(homePath, why) {
      if (told.has(homePath)) return
      told.set(homePath, true)
      tellDiskFull(database, idOf(homePath), why, Date.now())
        .then((siteId) => siteId && log.warn({ siteId, why }, 'a site could not write for want of disk space'))
        .catch((error) => log.warn({ err: error, home: homePath, why }, 'a full disk could not be recorded'))
    },
    log,
  })
}
