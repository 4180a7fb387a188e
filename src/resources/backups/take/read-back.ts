import { BackupDamaged, type BackupRepository, type VerifyOptions } from '../../../backups/backup-store.ts'
import { DumpUnreadable } from '../../../hosting/site-database/database-content.ts'
import { checkDump } from '../../../hosting/site-database/dumps/dump-check.ts'
import type { Kind } from '../backup.ts'

/**
 * Has a backup read back that was just written. One that is not what was written is removed: the next attempt must not find it complete, nor take
 * the chunk that is damaged for one that is there.
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
      // it removes nothing when an older backup is damaged, too
      await repository.sweep({ signal }).catch(unlessDamaged)
    }
    throw error
  }
}

/**
 * Writes a backup, and writes it again at once when it is not what was written: by then what is damaged is marked, and its content is mostly still
 * there. @throws BackupDamaged when the second one is not right either
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
 * Reads a backup back. Of files what it has added: every chunk is there and authentic; the rest was read back before the backup leaned on it. A dump is read whole: it is SQL to its last line.
 * @throws BackupDamaged
 */
export async function readBack(
  repository: BackupRepository,
  {
    name,
    kind,
    ...options
  }: Pick<VerifyOptions, 'signal' | 'onProgress' | 'yieldWhileBusy' | 'readBack'> & { name: string; kind: Kind },
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
