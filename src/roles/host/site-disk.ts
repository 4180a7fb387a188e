import { LRUCache } from 'lru-cache'
import { type DiskQuota, DiskWatch } from '../../hosting/site-files/disk-watch.ts'
import { SiteFiles } from '../../hosting/site-files/site-files.ts'
import type { Budget } from '../../platform/budgets/budget.ts'
import { keptFromSites } from '../../platform/files/free-room.ts'
import { diskQuota, tellDiskFull } from '../../resources/sites/site-disk.ts'
import type { Ground } from '../part.ts'

const idOf = (homePath: string): number => Number(/\/h(\d+)$/.exec(homePath)?.[1])

/** What the site of a home may have; undefined for a folder that is no home. */
export const quotaOf =
  ({ config, database }: Ground) =>
  async (homePath: string): Promise<DiskQuota | undefined> =>
    idOf(homePath) ? diskQuota(database, idOf(homePath), config) : undefined

/** The files of the host's sites, as a whole. */
export const openSiteFiles = (ground: Ground): SiteFiles =>
  new SiteFiles({ quotaOf: quotaOf(ground), keepFreeBytes: keptFromSites(ground.config.diskReserveMb << 20) })

/** Keeps sites within their disk quotas, and tells their owners. */
export function watchDisk(ground: Ground, shown: Budget): DiskWatch {
  const { config, database, log } = ground
  // a site that cannot write may say so at each of its requests
  const told = new LRUCache<string, true>({ max: 10_000, ttl: 60_000 })
  return new DiskWatch({
    folder: config.dataDir,
    shown,
    keepFreeBytes: keptFromSites(config.diskReserveMb << 20),
    quotaOf: quotaOf(ground),
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
