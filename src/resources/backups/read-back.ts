import { BackupDamaged, type BackupRepository, type VerifyOptions } from '../../backups/backup-store.ts'
import { DumpUnreadable } from '../../hosting/site-database/database-content.ts'
import { checkDump } from '../../hosting/site-database/dump-check.ts'
import type { Kind } from './backup.ts'

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
