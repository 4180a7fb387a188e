import { readFileSync } from 'node:fs'
import { backupKey, replaceBackupKey } from '../../backups/backup-key.store.ts'
import { sealStorageAnew } from '../../backups/open-store.ts'
import { parsePrintedKey, printKey } from '../../backups/printed-key.ts'
import { installationOf } from '../../hosting/identity/identity.store.ts'
import { markOfKey, masterKeyFile, readMasterKey } from '../../platform/crypto/master-key.ts'
import { createSealer, type Sealer } from '../../platform/crypto/seal.ts'
import type { Database } from '../../platform/db/database.ts'
import { backupStorage, type StorageSettings } from '../../resources/kit/open-backups.ts'
import type { ControlDatabaseKey } from '../../roles/process-context.ts'
import type { Call } from '../command.ts'
import { CommandError, printOne } from '../output.ts'
import { withControlDatabase } from '../with-control-database.ts'

type Settings = ControlDatabaseKey | 'masterKey'

/** Runs `stead backup key`, which prints the key to be stored in a safe place. */
export async function print({ config, flags }: Call<unknown, Settings>): Promise<void> {
  return withControlDatabase(config, async ({ database }) => {
    const key = await backupKey(database, await sealerOf(config, database), Date.now())
    printOne({ key: printKey(key) }, flags.json)
  })
}

/** Runs `stead backup accept-key`, for operators who have lost the master key but have the printed backup key. */
export async function accept({
  config,
  flags,
}: Call<{ file: string }, Settings | keyof StorageSettings>): Promise<void> {
  return withControlDatabase(config, async ({ database }) => {
    const key = keyIn(flags.file)
    const sealer = await sealerOf(config, database)
    const storage = backupStorage(config)
    await sealStorageAnew(storage, sealer, key)
    await database.transaction((tx) => replaceBackupKey(tx, sealer, key, Date.now()))
    printOne({ backups: storage.where, accepted: true }, flags.json)
  })
}

/**
 * Reads the key from a file, because other users of the machine can read the command line.
 * @param file `-` for standard input
 */
function keyIn(file: string): Buffer {
  let text: string
  try {
    text = readFileSync(file === '-' ? 0 : file, 'utf8')
  } catch (error) {
    throw new CommandError(`${file} cannot be read: ${(error as Error).message}`)
  }
  try {
    return parsePrintedKey(text)
  } catch (error) {
    throw new CommandError((error as Error).message)
  }
}

/**
 * Creates a sealer with the master key of this installation. It refuses any other, because the installation could not
 * read secrets sealed with it.
 */
async function sealerOf(config: Call<unknown, Settings>['config'], database: Database): Promise<Sealer> {
  const key = config.masterKey ?? (await readMasterKey(masterKeyFile(config)))
  const { keyMark = null } = (await installationOf(database.read)) ?? {}
  if (!key || (keyMark !== null && keyMark !== markOfKey(key)))
    throw new CommandError(
      `This command requires the master key of this installation, in ${masterKeyFile(config)} or STEAD_MASTER_KEY. Nothing was changed.`,
    )
  return createSealer(key)
}
