import { BackupDamaged, type BackupRepository, type VerifyOptions } from '../../../backups/backup-store.ts'
import { DumpUnreadable } from '../../../hosting/site-database/database-content.ts'
import { checkDump } from '../../../hosting/site-database/dumps/dump-check.ts'
import type { BackupKind } from '../backup.ts'

/**
 * Reads back a backup that was just written, and removes it if it differs. The next attempt must not find it complete,
 * nor reuse the damaged chunk.
 * @throws BackupDamaged
 */
export async function orRemove(
  repository: BackupRepository,
  { name, signal }: { readonly name: string; readonly signal: AbortSignal },
  work: () => Promise<unknown>,
): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (error instanceof BackupDamaged) {
      await repository.remove(name)
      // The sweep removes nothing when an older backup is also damaged.
      await repository.sweep({ signal }).catch(unlessDamaged)
    }
    throw error
  }
}

/**
 * Writes a backup, and writes it again at once if it differs when read back. By then the damage is marked, and most of
 * the content is still stored.
 * @throws BackupDamaged when the second one also differs
 */
export async function againIfDamaged<Result>(write: () => Promise<Result>): Promise<Result> {
  try {
    return await write()
  } catch (error) {
    unlessDamaged(error)
    return write()
  }
}

function unlessDamaged(error: unknown): void {
  if (!(error instanceof BackupDamaged)) throw error
}

/**
 * Reads a backup back. For files, checks that every chunk it added is present and authentic. The rest was read back
 * before the backup reused it. A dump is read completely, and must be SQL to its last line.
 * @throws BackupDamaged
 */
export async function readBack(
  repository: BackupRepository,
  {
    name,
    kind,
    ...options
  }: Pick<VerifyOptions, 'signal' | 'onProgress' | 'yieldWhileBusy' | 'readBack'> & { name: string; kind: BackupKind },
): Promise<void> {
  if (kind === 'fs') {
    await repository.verify(name, { ...options, only: 'added' })
    return
  }
  const check = checkDump()
  try {
    await repository.verify(name, { ...options, onContent: check.write })
    check.finish()
  } catch (error) {
    if (!(error instanceof DumpUnreadable)) throw error
    throw new BackupDamaged(`Backup ${name} is incomplete: ${error.message}`, { cause: error })
  }
}
