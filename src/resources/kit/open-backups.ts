import { join } from 'node:path'
import { backupKey } from '../../backups/backup-key.store.ts'
import type { BackupStore } from '../../backups/backup-store.ts'
import { openStore, openStoreOf, type StoreKeys } from '../../backups/open-store.ts'
import { leaseHolder } from '../../backups/repository-lease.ts'
import { folderStorage } from '../../backups/storage/folder-storage.ts'
import { type Patience, retryingStorage } from '../../backups/storage/retrying-storage.ts'
import { s3Storage } from '../../backups/storage/s3-storage.ts'
import type { Storage } from '../../backups/storage/storage.ts'
import type { Config } from '../../config.ts'
import type { Sealer } from '../../platform/crypto/seal.ts'
import type { Database } from '../../platform/db/database.ts'
import { keptFromSites } from '../../platform/files/free-room.ts'

/** Settings for the location of backups. */
export type StorageSettings = Pick<
  Config,
  | 'dataDir'
  | 'diskReserveMb'
  | 'backupDir'
  | 'backupS3Bucket'
  | 'backupS3Prefix'
  | 'backupS3Endpoint'
  | 'backupS3Region'
  | 'backupS3AccessKeyId'
  | 'backupS3SecretAccessKey'
>

interface OpenedWith {
  readonly config: StorageSettings
  readonly database: Database
}

/** Opens the backups that the settings name. Nothing is opened or created before it is used. */
export function openBackups({ config, database, sealer }: OpenedWith & { readonly sealer: Sealer }): BackupStore {
  return openStore({
    storage: backupStorage(config),
    sealer,
    key: () => backupKey(database, sealer, Date.now()),
    holder: () => leaseHolder(database),
  })
}

/** Opens those of them whose keys a process may have. */
export const openBackupsOf = ({ config, database, keys }: OpenedWith & { readonly keys: StoreKeys }): BackupStore =>
  openStoreOf({ storage: backupStorage(config), keys, holder: () => leaseHolder(database) })

/** Returns the storage for backups, according to the settings. */
export function backupStorage(config: StorageSettings, patience?: Partial<Patience>): Storage {
  return retryingStorage(plainStorage(config), patience)
}

function plainStorage(config: StorageSettings): Storage {
  const { backupS3Bucket: bucket, backupS3AccessKeyId: accessKeyId, backupS3SecretAccessKey: secretAccessKey } = config
  if (bucket === undefined) {
    const folder = config.backupDir ?? join(config.dataDir, 'backups')
    return folderStorage({ folder, keptBytes: keptFromSites(config.diskReserveMb * 2 ** 20) })
  }
  return s3Storage({
    bucket,
    endpoint: config.backupS3Endpoint,
    region: config.backupS3Region,
    prefix: config.backupS3Prefix,
    credentials: accessKeyId && secretAccessKey ? { accessKeyId, secretAccessKey } : undefined,
  })
}
