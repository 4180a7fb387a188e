import { StorageFailure } from '../backups/backup-store.ts'
import { STORE_MARK } from '../backups/open-store.ts'
import { StorageRefusal } from '../backups/storage/storage.ts'
import { backupStorage, type StorageSettings } from '../resources/kit/open-backups.ts'
import { CommandError } from './output.ts'

/** A person waits. Operations of a running Stead try again for minutes. */
const PATIENCE = { attempts: 1, attemptMs: 10_000 }

/**
 * Asks the storage of backups once.
 * @throws CommandError when it does not respond, or refuses
 */
export async function requireStorage(config: StorageSettings): Promise<void> {
  try {
    await backupStorage(config, PATIENCE).get(STORE_MARK)
  } catch (error) {
    if (!(error instanceof StorageFailure)) throw error
    const isRefusal = error instanceof StorageRefusal
    const does = isRefusal ? 'refuses the request' : 'does not respond'
    const remedy = `Check the STEAD_BACKUP_S3 settings and ${isRefusal ? 'the rights of the access key' : 'the network'}.`
    throw new CommandError(`The backup storage ${does} (${error.message.replace(/\.$/, '')}). ${remedy}`, {
      cause: error,
      exitCode: 1,
    })
  }
}
