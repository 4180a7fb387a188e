import { readdir } from 'node:fs/promises'
import type { BackupRepository } from '../../../backups/backup-store.ts'
import type { SiteDirectory } from '../../../hosting/site-directories/site-directories.ts'
import type { FileScope, WantedEntry } from '../../../hosting/site-files/file-content.ts'
import { lookInside } from '../../../hosting/site-files/open-inside.ts'
import { platformFiles } from '../../../hosting/site-files/platform/platform-files.ts'
import { isInScope } from '../../../hosting/site-files/scope.ts'
import { PermanentFailure } from '../../../platform/operations/definition.ts'
import type { HostServices } from '../../kit/host-services.ts'

/** What a look through a file backup has found. */
export interface FoundFiles {
  readonly bytes: number
  readonly hasConfig: boolean
}

/**
 * Looks through a file backup, without its content.
 * @throws PermanentFailure for a part that is not in it: a slip of the pen must not remove what is at that path
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
 * What of a site a file backup never overwrites: the files of the core at the top of the web root when the site runs another release than the
 * backup (`wp-includes` is the site's, and both must fit); what Stead itself has put there, as long as it is there; and wp-config.php of
 * another site, with its secrets, or when the backup has none.
 */
export async function whatStays(
  services: Pick<HostServices, 'siteDirectories'>,
  directory: SiteDirectory,
  about: { readonly backupCore: string | null; readonly keepsConfig: boolean },
): Promise<string[]> {
  const isOtherCore = about.backupCore !== null && about.backupCore !== directory.coreVersion
  return [
    ...(isOtherCore ? await rootFilesOfCore(services.siteDirectories.corePath(directory)) : []),
    ...platformFiles.filter((path) => directory.database === 'mariadb' || isThere(directory.path, path)),
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

/** What of a file backup is to be at the site, with its content from the storage. */
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
