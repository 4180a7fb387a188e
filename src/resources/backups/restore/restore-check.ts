import { BackupDamaged, BackupMissing } from '../../../backups/backup-store.ts'
import { DumpUnreadable } from '../../../hosting/site-database/database-content.ts'
import type { SiteDirectory } from '../../../hosting/site-directories/site-directory.ts'
import { FilesRefused } from '../../../hosting/site-files/paths.ts'
import { PermanentFailure, type StepContext } from '../../../platform/operations/definition.ts'
import type { HostServices } from '../../kit/host-services.ts'
import { findSite, isInstalled, type Site } from '../../sites/public.ts'
import { findBackup, findCompleted } from '../backup.store.ts'
import { type CompletedBackup, nameInRepository, siteOwner } from '../backup.ts'
import type { RestoreOrder } from './restore.ts'
import { lookThrough, whatStays } from './restore-content.ts'

export type RestoreContext<Results = unknown> = StepContext<RestoreOrder, HostServices, Results>

/** What is known about a restore before it changes anything. */
export interface Checked {
  readonly files: { readonly takenAt: number; readonly bytes: number; readonly stays: readonly string[] } | null
  readonly database: { readonly takenAt: number; readonly bytes: number } | null
}

/**
 * Returns the site to overwrite, with its site directory.
 * @throws PermanentFailure when the site is no longer on this host
 */
export async function targetSite({
  services,
  input,
}: Pick<RestoreContext, 'services' | 'input'>): Promise<{ site: Site; directory: SiteDirectory }> {
  const site = await findSite(services.database.read, input.siteId)
  const directory = await services.siteDirectories.ofSite(input.siteId)
  if (!site || !directory || !isInstalled(site))
    throw new PermanentFailure('The site does not exist or is not installed')
  return { site, directory }
}

/** Returns the repository of the site that the backups belong to. */
export const sourceRepository = ({ services, input }: Pick<RestoreContext, 'services' | 'input'>) =>
  services.backups.repository(siteOwner(input.sourceId))

/**
 * Checks that everything the request names exists. Changes nothing.
 * @throws PermanentFailure when something is missing
 */
export async function checkRestore(context: RestoreContext): Promise<Checked> {
  const { input, services, signal } = context
  const { directory } = await targetSite(context)
  const repository = sourceRepository(context)
  const files = input.filesId === null ? null : await requireBackup(context, input.filesId)
  const database = input.databaseId === null ? null : await requireBackup(context, input.databaseId)
  if (!files) return { files: null, database }
  const found = await forGood(() => lookThrough(repository, nameInRepository(files), { paths: input.paths, signal }))
  const keepsConfig = input.sourceId !== input.siteId || !found.hasConfig
  const stays = await whatStays(services, directory, { backupCore: files.coreVersion, keepsConfig })
  return { files: { takenAt: files.takenAt, bytes: found.bytes, stays }, database }
}

async function requireBackup(context: RestoreContext, id: number): Promise<CompletedBackup> {
  const { services, input } = context
  const backup = await findCompleted(services.database.read, input.sourceId, id)
  const facts = backup && (await sourceRepository(context).find(nameInRepository(backup)))
  if (!backup || !facts) throw new PermanentFailure(`The backup ${id} no longer exists`)
  return backup
}

/**
 * Returns the backup's name in the storage.
 * @throws PermanentFailure when the control database no longer has the backup
 */
export async function storedName({ services, input }: RestoreContext, id: number): Promise<string> {
  const backup = await findBackup(services.database.read, input.sourceId, id)
  if (!backup) throw new PermanentFailure(`The backup ${id} no longer exists`)
  return nameInRepository(backup)
}

/**
 * Runs work on a backup, and stops retries where they cannot help: for lost, damaged or forbidden content.
 * @throws PermanentFailure for such content
 */
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
