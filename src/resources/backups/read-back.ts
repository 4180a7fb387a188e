import { BackupDamaged, type BackupRepository, type VerifyOptions } from '../../backups/backup-store.ts'
import { DumpUnreadable } from '../../hosting/site-database/database-content.ts'
import { checkDump } from '../../hosting/site-database/dump-check.ts'
import type { Kind } from './backup.ts'

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
      await repository.sweep({ signal })
    }
    throw error
  }
}

/**
 * Reads a backup back. Of files what it has added: every chunk is there and authentic; the rest was read back by the backup that added it, and its packs
 * are there in their length. A dump is read whole: it is SQL to its last line.
 * @throws BackupDamaged
 */
export async function readBack(
  repository: BackupRepository,
  {
    name,
    kind,
    ...options
  }: Pick<VerifyOptions, 'signal' | 'onProgress' | 'giveWay' | 'readBack'> & { name: string; kind: Kind },
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
    throw new BackupDamaged(`Backup ${name} is no whole dump: ${error.message}`, { cause: error })
  }
}
