import { knownRoles } from '../../certificates/role-certificates.store.ts'
import { installationOf } from '../../hosting/identity/identity.store.ts'
import type { Database } from '../../platform/db/database.ts'
import { RoleTrust } from '../../platform/mtls/role-trust.ts'
import { OperatorError } from '../../platform/operator-error.ts'
import { askControl, type Joined, type JoinedKeys, keepKeys, readKeysOf } from '../certificates/join.ts'

/**
 * Returns the keys of a machine that joined without the master key. It asks the control if it has none, because it joined with an earlier
 * version, or if they were derived from another master key than the installation has now.
 * @throws OperatorError when it needs the control, and that does not answer
 */
export async function keysOfJoined(database: Database, dataDir: string, joined: Joined): Promise<JoinedKeys> {
  const { keyMark = null } = (await installationOf(database.read)) ?? {}
  if (joined.keys && (keyMark === null || joined.keys.mark === keyMark)) return joined.keys
  const trust = new RoleTrust(joined, await knownRoles(database.read, Date.now()))
  const keys = readKeysOf(joined, await askControl(joined, trust, 'POST /internal/keys', {}))
  if (!keys)
    throw new OperatorError(`The control gave this ${joined.role} no keys. Upgrade the control.`, { exitCode: 1 })
  await keepKeys(dataDir, joined, keys)
  return keys
}
