import { join } from 'node:path'
import type { BackupStore } from '../backups/backup-store.ts'
import type { Config } from '../config.ts'
import { installationOf } from '../hosting/identity/identity.store.ts'
import { markOfKey, masterKeyFile, readMasterKey } from '../platform/crypto/master-key.ts'
import { createSealer } from '../platform/crypto/seal.ts'
import type { Database } from '../platform/db/database.ts'
import { lockFile } from '../platform/files/lock-file.ts'
import { openBackups, type StorageSettings } from '../resources/kit/open-backups.ts'
import {
  type ControlDatabase,
  type ControlDatabaseKey,
  type ControlDatabaseOptions,
  type ControlDatabaseSettings,
  openControlDatabase,
} from '../roles/process-context.ts'
import { CommandError } from './output.ts'
import { requireStorage } from './require-storage.ts'

/**
 * Runs a command's work on the database that the settings name, and closes it. No command creates a folder or a
 * database implicitly.
 */
export async function withControlDatabase(
  config: ControlDatabaseSettings,
  work: (records: ControlDatabase) => Promise<void>,
  options: ControlDatabaseOptions = { makes: false, strangers: 'refuse' },
): Promise<void> {
  const records = await openControlDatabase(config, options)
  try {
    await work(records)
  } finally {
    await records.database.close()
  }
}

/** The settings of a command that reads or writes backups. */
export type BackupKey = ControlDatabaseKey | 'masterKey' | keyof StorageSettings

export interface WithBackups {
  readonly records: ControlDatabase
  readonly backups: BackupStore
  readonly masterKey: Buffer
}

/**
 * Runs a command's work on the control database and the storage of backups.
 * @throws CommandError when the master key is missing, or the storage does not respond
 */
export async function withBackups(
  config: Pick<Config, BackupKey>,
  work: (context: WithBackups) => Promise<void>,
): Promise<void> {
  return withControlDatabase(config, async (records) => {
    const { database } = records
    const masterKey = await masterKeyOf(config, database)
    await requireStorage(config)
    const backups = openBackups({ config, database, sealer: createSealer(masterKey) })
    await work({ records, backups, masterKey })
  })
}

/**
 * Returns the master key of the installation.
 * @throws CommandError when it is missing
 */
export async function masterKeyOf(config: Pick<Config, 'dataDir' | 'masterKey'>, database: Database): Promise<Buffer> {
  const masterKey = config.masterKey ?? (await readMasterKey(masterKeyFile(config)))
  const { keyMark = null } = (await installationOf(database.read)) ?? {}
  if (!masterKey || (keyMark !== null && keyMark !== markOfKey(masterKey)))
    throw new CommandError(
      `This command requires the master key of this installation, in ${masterKeyFile(config)} or STEAD_MASTER_KEY.`,
    )
  return masterKey
}

/**
 * Runs a command's work while no Stead can start on the data folder.
 * @throws CommandError when one is running
 */
export async function whileStopped<Result>(dataDir: string, work: () => Promise<Result>): Promise<Result> {
  const held = await Promise.all(['serve.lock', 'host.lock'].map((name) => lockFile(join(dataDir, name))))
  try {
    if (held.includes(undefined))
      throw new CommandError(`Stead is running on the data folder ${dataDir}. Stop it first.`)
    return await work()
  } finally {
    for (const unlock of held) unlock?.()
  }
}
