import { readdir } from 'node:fs/promises'
import type { BackupRepository } from '../../../backups/backup-store.ts'
import { isOnServer } from '../../../hosting/site-database/database-kind.ts'
import type { SiteDirectory } from '../../../hosting/site-directories/site-directory.ts'
import type { FileScope, WantedEntry } from '../../../hosting/site-files/file-content.ts'
import { lookInside } from '../../../hosting/site-files/open-inside.ts'
import { platformFiles } from '../../../hosting/site-files/platform/platform-files.ts'
import { isInScope } from '../../../hosting/site-files/scope.ts'
import { PermanentFailure } from '../../../platform/operations/definition.ts'
import type { HostServices } from '../../kit/host-services.ts'

/** Result of scanning a file backup. */
export interface FoundFiles {
  readonly bytes: number
  readonly hasConfig: boolean
}

/**
 * Scans a file backup without reading its content.
 * @throws PermanentFailure for a path that is not in it, because a typo must not remove what is at that path
 */
export async function lookThrough(
  repository: BackupRepository,
  name: string,
  { paths = [], signal }: { paths?: readonly string[] | undefined; signal: AbortSignal },
): Promise<FoundFiles> {
  const missing = new Set(paths)
  let bytes = 0
  let hasConfig = false
  for await (const entry of repository.entries(name)) {
    signal.throwIfAborted()
    if (entry.path === CONFIG && entry.kind === 'file') hasConfig = true
    if (entry.kind === 'file' && (paths.length === 0 || isInScope({ paths }, entry.path))) bytes += entry.sizeBytes
    for (const path of missing) if (entry.path === path || entry.path.startsWith(`${path}/`)) missing.delete(path)
  }
  const [first] = missing
  if (first !== undefined) throw new PermanentFailure(`The file backup does not contain ${first}`)
  return { bytes, hasConfig }
}

export const CONFIG = 'wp-config.php'

/**
 * Returns the paths that a file backup never overwrites at a site:
 * - The core's files at the top of the web root, if the site runs another release than the backup. `wp-includes` stays
 * the site's, and both must match.
 * - Files that Stead itself has written there, as long as they exist.
 * - wp-config.php, if the backup is another site's with other secrets, or has none.
 */
export async function whatStays(
  services: Pick<HostServices, 'siteDirectories'>,
  directory: SiteDirectory,
  about: { readonly backupCore: string | null; readonly keepsConfig: boolean },
): Promise<string[]> {
  const isOtherCore = about.backupCore !== null && about.backupCore !== directory.coreVersion
  return [
    ...(isOtherCore ? await rootFilesOfCore(services.siteDirectories.corePath(directory)) : []),
    ...platformFiles.filter((path) => isOnServer(directory.database) || isThere(directory.path, path)),
    ...(about.keepsConfig ? [CONFIG] : []),
  ]
}

async function rootFilesOfCore(corePath: string): Promise<string[]> {
  const entries = await readdir(corePath, { withFileTypes: true })
  return entries.filter((entry) => entry.isFile() && entry.name !== CONFIG).map(({ name }) => name)
}

function isThere(siteDirectory: string, path: string): boolean {
  const found = lookInside(siteDirectory, `web/${path}`)
  found?.close()
  return found !== undefined
}

/** Yields the entries of a file backup to restore, with their content from the storage. */
export async function* wantedFiles(
  repository: BackupRepository,
  name: string,
  scope: FileScope,
): AsyncGenerator<WantedEntry> {
  for await (const entry of repository.entries(name)) {
    if (!isInScope(scope, entry.path)) continue
    if (entry.kind !== 'file') yield entry
    else {
      const { chunks, ...file } = entry
      yield { ...file, open: async () => repository.readFile({ ...file, chunks }) }
    }
  }
}
