import { LRUCache } from 'lru-cache'
import { type DiskQuota, DiskWatch } from '../../hosting/site-files/disk-watch.ts'
import { SiteFiles } from '../../hosting/site-files/site-files.ts'
import type { Budget } from '../../platform/budgets/budget.ts'
import { isAway, orLastKnown } from '../../platform/db/last-known.ts'
import { keptFromSites } from '../../platform/files/free-room.ts'
import { diskQuota, quotaOfSettings, tellDiskFull } from '../../resources/sites/wordpress/site-disk.ts'
import type { ProcessContext } from '../process-context.ts'

const idOf = (siteDirectory: string): number => Number(/\/h(\d+)$/.exec(siteDirectory)?.[1])

/** Returns the space that a site directory uses on the host's MariaDB, by its number. */
export type DatabaseBytes = (directory: number) => number

/**
 * Returns the quota for files of a site directory: its site's quota, minus its space on MariaDB. Undefined for a folder
 * that is not a site directory.
 */
export function quotaOf(
  { config, database }: Pick<ProcessContext, 'config' | 'database'>,
  databaseBytes: DatabaseBytes,
): (siteDirectory: string) => Promise<DiskQuota | undefined> {
  const ask = orLastKnown((directory: number) => diskQuota(database, directory, config))
  return async (siteDirectory) => {
    const directory = idOf(siteDirectory)
    if (!directory) return undefined
    const quota = await ask(directory).catch((error) => {
      if (!isAway(error)) throw error
    })
    // PHP must start while the database is away. Then the limit of the settings holds, whatever the plan.
    const { bytes, files } = quota ?? quotaOfSettings(config)
    return { bytes: Math.max(0, bytes - databaseBytes(directory)), files }
  }
}

/** Opens access to all files of the host's sites. */
export const openSiteFiles = (context: ProcessContext, databaseBytes: DatabaseBytes): SiteFiles =>
  new SiteFiles({
    quotaOf: quotaOf(context, databaseBytes),
    keepFreeBytes: keptFromSites(context.config.diskReserveMb << 20),
  })

/**
 * Returns a function that notifies the owner of a site directory's site that it could not write. Callers can call it
 * each time.
 */
export function tellingOfFullDisk({
  database,
  log,
}: ProcessContext): (directory: number, why: 'quota' | 'disk') => void {
  // A site that cannot write may report it at each of its requests.
  const told = new LRUCache<number, true>({ max: 10_000, ttl: 60_000 })
  return (directory, why) => {
    if (told.has(directory)) return
    told.set(directory, true)
    tellDiskFull(database, directory, why, Date.now())
      .then((siteId) => siteId && log.warn({ siteId, why }, 'a site ran out of disk space'))
      .catch((error) => log.warn({ err: error, directory, why }, 'could not record a full disk'))
  }
}

/** Keeps sites within their disk quotas, and notifies their owners. */
export function watchDisk(context: ProcessContext, shown: Budget, databaseBytes: DatabaseBytes): DiskWatch {
  const { config, log } = context
  const tell = tellingOfFullDisk(context)
  return new DiskWatch({
    folder: config.dataDir,
    shown,
    keepFreeBytes: keptFromSites(config.diskReserveMb << 20),
    quotaOf: quotaOf(context, databaseBytes),
    onRefusal: (siteDirectory, why) => tell(idOf(siteDirectory), why),
    log,
  })
}
