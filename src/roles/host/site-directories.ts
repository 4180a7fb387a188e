import type { Bound } from '../../hosting/identity/bind.ts'
import { DirectoriesOnDisk } from '../../hosting/site-directories/directories-on-disk.ts'
import type { DirectoryDatabases } from '../../hosting/site-directories/directory-databases.ts'
import { SiteDirectories, type SiteDirectoriesOptions } from '../../hosting/site-directories/site-directories.ts'
import { keptFromSites } from '../../platform/files/free-room.ts'
import type { ProcessContext } from '../process-context.ts'

export const isRoot = process.getuid?.() === 0

interface DirectoryParts {
  readonly hostId: number
  readonly bound: Pick<Bound, 'identity'>
  readonly mariaDb: { readonly ofDirectories: DirectoryDatabases | undefined }
  readonly kinds: SiteDirectoriesOptions['kinds']
}

/** The site directories of a host, and their folders. */
export interface OpenedDirectories {
  readonly siteDirectories: SiteDirectories
  readonly folders: DirectoriesOnDisk
}

/** Returns the site directories of the host, without a look at the database or the disk. */
export function siteDirectoriesOf(
  { config, database, log }: ProcessContext,
  { hostId, bound: { identity }, mariaDb: { ofDirectories: onServer }, kinds }: DirectoryParts,
): OpenedDirectories {
  const folders = new DirectoriesOnDisk({
    dataDir: config.dataDir,
    identity,
    isRoot,
    keepFreeBytes: keptFromSites(config.diskReserveMb << 20),
    log,
  })
  const prepared = config.preparedSites
  return {
    folders,
    siteDirectories: new SiteDirectories({ database, hostId, folders, identity, prepared, onServer, kinds, log }),
  }
}

/** Opens the site directories of the host, and reconciles records with the disk. */
export async function openSiteDirectories(
  context: ProcessContext,
  parts: DirectoryParts & { readonly bound: Bound },
): Promise<OpenedDirectories> {
  const opened = siteDirectoriesOf(context, parts)
  const { bound } = parts
  await opened.siteDirectories.reconcile(bound)
  // Last: until it exists, site directories without a mark are trusted to match their records.
  if (bound.isTakenOver) await bound.identity.write()
  return opened
}
