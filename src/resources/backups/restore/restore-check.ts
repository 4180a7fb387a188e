import { BackupDamaged, BackupMissing } from '../../../backups/backup-store.ts'
import { DumpUnreadable } from '../../../hosting/site-database/database-content.ts'
import type { SiteDirectory } from '../../../hosting/site-directories/site-directories.ts'
import { FilesRefused } from '../../../hosting/site-files/paths.ts'
import { PermanentFailure, type StepContext } from '../../../platform/operations/definition.ts'
import type { HostServices } from '../../kit/host-services.ts'
import { findSite, isInstalled, type Site } from '../../sites/site.ts'
import { type CompletedBackup, findBackup, findCompleted, nameOf, siteOwner } from '../backup.ts'
import type { RestoreOrder } from './restore.ts'
import { lookThrough, whatStays } from './restore-content.ts'

export type RestoreContext<Results = unknown> = StepContext<RestoreOrder, HostServices, Results>

/** What is known of a restore before anything is done. */
export interface Checked {
  readonly files: { readonly takenAt: number; readonly bytes: number; readonly stays: readonly string[] } | null
  readonly database: { readonly takenAt: number; readonly bytes: number } | null
}

/** The site that is overwritten, with its site directory. @throws PermanentFailure when it is not here any more */
export async function targetOf({
  services,
  input,
}: Pick<RestoreContext, 'services' | 'input'>): Promise<{ site: Site; directory: SiteDirectory }> {
  const site = await findSite(services.database.read, input.siteId)
  const directory = await services.siteDirectories.ofSite(input.siteId)
  if (!site || !directory || !isInstalled(site))
    throw new PermanentFailure('The site does not exist or is not installed')
  return { site, directory }
}

/** The repository of the site whose backups these are. */
export const sourceOf = ({ services, input }: Pick<RestoreContext, 'services' | 'input'>) =>
  services.backups.repository(siteOwner(input.sourceId))

/**
 * Checks whether all that is asked for is there, and changes nothing.
 * @throws PermanentFailure for what is not
 */
export async function checkRestore(context: RestoreContext): Promise<Checked> {
  const { input, services, signal } = context
  const { directory } = await targetOf(context)
  const repository = sourceOf(context)
  const files = input.filesId === null ? null : await requireBackup(context, input.filesId)
  const database = input.databaseId === null ? null : await requireBackup(context, input.databaseId)
  if (!files) return { files: null, database }
  const found = await forGood(() => lookThrough(repository, nameOf(files), { paths: input.paths, signal }))
  const keepsConfig = input.sourceId !== input.siteId || !found.hasConfig
  const stays = await whatStays(services, directory, { backupCore: files.coreVersion, keepsConfig })
  return { files: { takenAt: files.takenAt, bytes: found.bytes, stays }, database }
}

async function requireBackup(context: RestoreContext, id: number): Promise<CompletedBackup> {
  const { services, input } = context
  const backup = await findCompleted(services.database.read, input.sourceId, id)
  const facts = backup && (await sourceOf(context).find(nameOf(backup)))
  if (!backup || !facts) throw new PermanentFailure(`The backup ${id} no longer exists`)
  return backup
}

/** What the backup is called in the storage. @throws PermanentFailure when the records do not know it any more */
export async function storedName({ services, input }: RestoreContext, id: number): Promise<string> {
  const backup = await findBackup(services.database.read, input.sourceId, id)
  if (!backup) throw new PermanentFailure(`The backup ${id} no longer exists`)
  return nameOf(backup)
}

/** Work with a backup: what is lost or damaged there, or not allowed, no further attempt makes good. @throws PermanentFailure for that */
export async function forGood<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    const isHopeless =
      error instanceof BackupDamaged ||
      error instanceof BackupMissing ||
      error instanceof DumpUnreadable ||
      error instanceof FilesRefused
    throw isHopeless ? new PermanentFailure(error.message, { cause: error }) : error
  }
}
