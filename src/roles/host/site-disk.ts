import { LRUCache } from 'lru-cache'
import { type DiskQuota, DiskWatch } from '../../hosting/site-files/disk-watch.ts'
import { SiteFiles } from '../../hosting/site-files/site-files.ts'
import type { Budget } from '../../platform/budgets/budget.ts'
import { keptFromSites } from '../../platform/files/free-room.ts'
import { diskQuota, tellDiskFull } from '../../resources/sites/site-disk.ts'
import type { Ground } from '../part.ts'

const idOf = (homePath: string): number => Number(/\/h(\d+)$/.exec(homePath)?.[1])

/** What a home has on the host's MariaDB, by its number. */
export type DatabaseBytes = (home: number) => number

/** What the files of a home may take: its site's quota, less what the site has on MariaDB. Undefined for a folder that is no home. */
export const quotaOf =
  ({ config, database }: Ground, databaseBytes: DatabaseBytes) =>
  async (homePath: string): Promise<DiskQuota | undefined> => {
    const home = idOf(homePath)
    if (!home) return undefined
    const { bytes, files } = await diskQuota(database, home, config)
    return { bytes: Math.max(0, bytes - databaseBytes(home)), files }
  }

/** The files of the host's sites, as a whole. */
export const openSiteFiles = (ground: Ground, databaseBytes: DatabaseBytes): SiteFiles =>
  new SiteFiles({
    quotaOf: quotaOf(ground, databaseBytes),
    keepFreeBytes: keptFromSites(ground.config.diskReserveMb << 20),
  })

/** Tells the owner of a home's site that it could not write. May be called for each time. */
export function tellingOfFullDisk({ database, log }: Ground): (home: number, why: 'quota' | 'disk') => void {
  // a site that cannot write may say so at each of its requests
  const told = new LRUCache<number, true>({ max: 10_000, ttl: 60_000 })
  return (home, why) => {
    if (told.has(home)) return
    told.set(home, true)
    tellDiskFull(database, home, why, Date.now())
      .then((siteId) => siteId && log.warn({ siteId, why }, 'a site ran out of disk space'))
      .catch((error) => log.warn({ err: error, home, why }, 'could not record a full disk'))
  }
}

/** Keeps sites within their disk quotas, and tells their owners. */
export function watchDisk(ground: Ground, shown: Budget, databaseBytes: DatabaseBytes): DiskWatch {
  const { config, log } = ground
  const tell = tellingOfFullDisk(ground)
  return new DiskWatch({
    folder: config.dataDir,
    shown,
    keepFreeBytes: keptFromSites(config.diskReserveMb << 20),
    quotaOf: quotaOf(ground, databaseBytes),
    onRefusal: (homePath, why) => tell(idOf(homePath), why),
    log,
  })
}
