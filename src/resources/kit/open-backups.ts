import { join } from 'node:path'
import { backupKey } from '../../backups/backup-key.store.ts'
import type { BackupStore } from '../../backups/backup-store.ts'
import { openStore, openStoreOf, type StoreKeys } from '../../backups/open-store.ts'
import { leaseHolder } from '../../backups/repository-lease.ts'
import { folderStorage } from '../../backups/storage/folder-storage.ts'
import { type Patience, retryingStorage } from '../../backups/storage/retrying-storage.ts'
import { type S3Options, s3Storage } from '../../backups/storage/s3-storage.ts'
import { type StoragePlace, type StorageSigner, signedStorage } from '../../backups/storage/signed-storage.ts'
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

interface OpenedWithKeys extends OpenedWith {
  readonly keys: StoreKeys
  /** The process that has the credentials of the bucket. By default, this one has them. */
  readonly signed?: { readonly place: StoragePlace; readonly signer: StorageSigner } | undefined
}

/** Opens those of them whose keys a process may have. */
export const openBackupsOf = ({ config, database, keys, signed }: OpenedWithKeys): BackupStore =>
  openStoreOf({
    storage: signed ? retryingStorage(signedStorage(signed.place, signed.signer)) : backupStorage(config),
    keys,
    holder: () => leaseHolder(database),
  })

/** Returns the storage for backups, according to the settings. */
export function backupStorage(config: StorageSettings, patience?: Partial<Patience>): Storage {
  return retryingStorage(plainStorage(config), patience)
}

function plainStorage(config: StorageSettings): Storage {
  const bucket = bucketOf(config)
  if (bucket) return s3Storage(bucket)
  const folder = config.backupDir ?? join(config.dataDir, 'backups')
  return folderStorage({ folder, keptBytes: keptFromSites(config.diskReserveMb * 2 ** 20) })
}

/** Returns the bucket of the settings. @returns undefined if backups are in a folder */
export function bucketOf(config: StorageSettings): S3Options | undefined {
  const { backupS3Bucket: bucket, backupS3AccessKeyId: accessKeyId, backupS3SecretAccessKey: secretAccessKey } = config
  if (bucket === undefined) return undefined
  return {
    bucket,
    endpoint: config.backupS3Endpoint,
    region: config.backupS3Region,
    prefix: config.backupS3Prefix,
    credentials: accessKeyId && secretAccessKey ? { accessKeyId, secretAccessKey } : undefined,
  }
}

/** Returns the place of a bucket, without credentials. */
export const placeOfBucket = ({ bucket, endpoint, region, prefix }: S3Options): StoragePlace => ({
  ...{ bucket, region, prefix },
  ...(endpoint !== undefined && { endpoint }),
})
