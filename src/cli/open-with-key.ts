import type { BackupStore } from '../backups/backup-store.ts'
import { keyOfStorage, openStoreWithKey } from '../backups/open-store.ts'
import { parsePrintedKey } from '../backups/printed-key.ts'
import type { Config } from '../config.ts'
import { createSealer } from '../platform/crypto/seal.ts'
import { backupStorage } from '../resources/kit/open-backups.ts'
import { CommandError } from './output.ts'
import { requireStorage } from './require-storage.ts'
import type { BackupKey } from './with-control-database.ts'

/**
 * Opens the storage of backups without a control database. It uses the printed key, or the key in the storage, sealed
 * under the master key.
 * @throws OperatorError when neither is given, or it belongs to another installation
 */
export async function openWithKey(config: Pick<Config, BackupKey>, printed: string | undefined): Promise<BackupStore> {
  const storage = backupStorage(config)
  const masterKey = config.masterKey
  if (printed !== undefined) {
    let key: Buffer
    try {
      key = parsePrintedKey(printed)
    } catch (error) {
      throw new CommandError(`--key: ${(error as Error).message}`, { cause: error })
    }
    await requireStorage(config)
    // The sealer is not used, because the storage already records its installation.
    return openStoreWithKey(storage, key, createSealer(masterKey ?? Buffer.alloc(32)))
  }
  if (!masterKey)
    throw new CommandError(
      'The backup key is required. Send the output of stead backup key with --key=…, or set STEAD_MASTER_KEY.',
    )
  await requireStorage(config)
  const sealer = createSealer(masterKey)
  const key = await keyOfStorage(storage, sealer)
  if (!key) throw new CommandError(`${storage.where} does not contain backups.`)
  return openStoreWithKey(storage, key, sealer)
}
