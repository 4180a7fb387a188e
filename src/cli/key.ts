import { replaceKeyMark } from '../hosting/identity/identity.store.ts'
import { makeMasterKey, markOfKey } from '../platform/crypto/master-key.ts'
import { masterKeyFile } from '../roles/part.ts'
import type { CommandCall } from './arguments.ts'
import { onRecords } from './ground.ts'
import { CommandError, printOne } from './output.ts'

/** `stead key accept`: for those who have lost the master key for good. */
export async function run(call: CommandCall): Promise<number> {
  if (call.words[0] !== 'accept') throw new CommandError('stead key accept. See: stead help key')
  const { config } = call
  return onRecords(call, async ({ database }) => {
    const key = config.masterKey ?? (await makeMasterKey(masterKeyFile(config)))
    await database.transaction((tx) => replaceKeyMark(tx, markOfKey(key)))
    printOne(
      { key: config.masterKey ? 'STEAD_MASTER_KEY' : masterKeyFile(config), accepted: true },
      call.flags.json === true,
    )
  })
}
