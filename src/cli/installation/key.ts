import { existsSync } from 'node:fs'
import type { Config } from '../../config.ts'
import { replaceKeyMark } from '../../hosting/identity/identity.store.ts'
import { makeMasterKey, markOfKey, masterKeyFile } from '../../platform/crypto/master-key.ts'
import type { ControlDatabaseKey } from '../../roles/process-context.ts'
import type { Call } from '../command.ts'
import { CommandError, printOne } from '../output.ts'
import { withControlDatabase } from '../with-control-database.ts'

/** Runs `stead key accept`, for operators who have lost the master key permanently. */
export async function accept({ config, flags }: Call<unknown, ControlDatabaseKey | 'masterKey'>): Promise<void> {
  return withControlDatabase(config, async ({ database }) => {
    const key = config.masterKey ?? (await keyInFile(config))
    await database.transaction((tx) => replaceKeyMark(tx, markOfKey(key)))
    printOne({ key: config.masterKey ? 'STEAD_MASTER_KEY' : masterKeyFile(config), accepted: true }, flags.json)
  })
}

async function keyInFile(config: Pick<Config, 'dataDir'>): Promise<Buffer> {
  if (!existsSync(config.dataDir))
    throw new CommandError(`The data folder ${config.dataDir} does not exist. Set STEAD_DATA_DIR and STEAD_MASTER_KEY.`)
  return makeMasterKey(masterKeyFile(config))
}
