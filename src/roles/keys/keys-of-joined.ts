import { knownRoles } from '../../certificates/role-certificates.store.ts'
import { installationOf } from '../../hosting/identity/identity.store.ts'
import type { Database } from '../../platform/db/database.ts'
import { RoleTrust } from '../../platform/mtls/role-trust.ts'
import { OperatorError } from '../../platform/operator-error.ts'
import { askControl, type Joined, type JoinedKeys, keepGiven, readKeysOf, readStorageOf } from '../certificates/join.ts'

/** What a control gives a machine that joined without the master key. */
export interface GivenToJoined {
  readonly keys: JoinedKeys
  readonly storage?: Joined['storage']
}

/**
 * Returns the keys of a machine that joined without the master key, and where its storage for backups is. It asks the
 * control for what it does not have, because it joined with an earlier version, and if its keys were derived from
 * another master key than the installation has now.
 * @param needsStorage whether the settings of the machine name no storage
 * @throws OperatorError when it needs the control, and that does not answer
 */
export async function keysOfJoined(
  database: Database,
  { dataDir, needsStorage }: { readonly dataDir: string; readonly needsStorage: boolean },
  joined: Joined,
): Promise<GivenToJoined> {
  const { keyMark = null } = (await installationOf(database.read)) ?? {}
  const { keys: own, storage } = joined
  const isComplete = storage !== undefined || !needsStorage
  const isValid = own !== undefined && (keyMark === null || own.mark === keyMark)
  if (isValid && isComplete) return { keys: own, ...(storage && { storage }) }
  const trust = new RoleTrust(joined, await knownRoles(database.read, Date.now()))
  const answer = await askControl(joined, trust, 'POST /internal/keys', {})
  const keys = readKeysOf(joined, answer)
  if (!keys)
    throw new OperatorError(`The control gave this ${joined.role} no keys. Upgrade the control.`, { exitCode: 1 })
  const found = readStorageOf(answer) ?? storage
  const given = { keys, ...(found && { storage: found }) }
  await keepGiven(dataDir, given)
  return given
}
