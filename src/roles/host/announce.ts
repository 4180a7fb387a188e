import { recordHost } from '../../edge/routing/route-changes.store.ts'
import { hostState, otherHosts, registerHost } from '../../hosting/host.store.ts'
import { isUsable } from '../../hosting/host-state.ts'
import type { Bound } from '../../hosting/identity/bind.ts'
import { givenUp } from '../../hosting/identity/faults.ts'
import { OperatorError } from '../../platform/operator-error.ts'
import { haveStorageInCommon } from '../../resources/kit/shared-storage.ts'
import { readJoined } from '../certificates/join.ts'
import type { ProcessContext } from '../process-context.ts'

/**
 * Announces the host's address to control and edges.
 * @returns its id
 * @throws OperatorError for a host that is marked lost or removed, or that has local backups next to other hosts
 */
export async function announceHost({ config, database }: ProcessContext, { name, identity }: Bound, address: string) {
  const datacenters = (await datacentersOf(config)).join(',')
  const { host, epoch } = identity.current
  const { hostMaxSites: maxSites } = config
  return database.transaction(async (tx) => {
    const id = await registerHost(tx, { name, address, datacenters, identity: host, epoch, maxSites })
    const state = await hostState(tx, id)
    if (state !== undefined && !isUsable(state)) throw givenUp(name, state)
    if (!haveStorageInCommon(config)) {
      const others = await otherHosts(tx, id)
      if (others.length > 0) throw storageOfOneHost(name, others)
    }
    // Its port changes with each start. An edge that learned this from a refused connection would already have failed a
    // visitor.
    await recordHost(tx, id)
    return id
  })
}

/** Returns the datacenters of the setting, else those of the token with which the machine joined. `[]` means all. */
async function datacentersOf({ hostDatacenters, dataDir }: ProcessContext['config']): Promise<readonly string[]> {
  if (hostDatacenters.length > 0) return hostDatacenters
  return (await readJoined(dataDir))?.datacenters ?? []
}

/**
 * Returns the error for local backups. Backups on the disk that they protect cannot restore anything on another host.
 */
const storageOfOneHost = (name: string, others: readonly string[]): OperatorError =>
  new OperatorError(
    `${name} cannot start together with ${others.join(', ')}: backups would stay on the disk of each host, and be lost with it. ` +
      'On all hosts and controls, set STEAD_BACKUP_S3_BUCKET, or STEAD_BACKUP_DIR to a folder that all machines share. ' +
      'A host that no longer exists is taken off the list with stead host remove --name=NAME.',
  )
