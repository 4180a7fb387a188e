import type { Bound } from '../../hosting/identity/bind.ts'
import { DirectoriesOnDisk } from '../../hosting/site-directories/directories-on-disk.ts'
import type { DirectoryDatabases } from '../../hosting/site-directories/directory-databases.ts'
import { SiteDirectories, type SiteDirectoriesOptions } from '../../hosting/site-directories/site-directories.ts'
import { keptFromSites } from '../../platform/files/free-room.ts'
import type { ProcessContext } from '../process-context.ts'

export const isRoot = process.getuid?.() === 0

/** Opens the site directories of the host, and reconciles records with the disk. */
export async function openSiteDirectories(
  { config, database, log }: ProcessContext,
  hostId: number,
  bound: Bound,
  { ofDirectories: onServer }: { readonly ofDirectories: DirectoryDatabases | undefined },
  kinds: SiteDirectoriesOptions['kinds'],
): Promise<{ siteDirectories: SiteDirectories; folders: DirectoriesOnDisk }> {
  const { identity } = bound
  const folders = new DirectoriesOnDisk({
    dataDir: config.dataDir,
    identity,
    isRoot,
    keepFreeBytes: keptFromSites(config.diskReserveMb << 20),
    log,
  })
  const siteDirectories = new SiteDirectories({
    database,
    hostId,
    folders,
    identity,
    prepared: config.preparedSites,
    onServer,
    kinds,
    log,
  })
  await siteDirectories.reconcile(bound)
  // Last: until it exists, site directories without a mark are trusted to match their records.
  if (bound.isTakenOver) await identity.write()
  return { siteDirectories, folders }
}
