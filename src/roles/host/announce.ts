import { recordHost } from '../../edge/routing/route-changes.store.ts'
import { hostState, otherHosts, registerHost } from '../../hosting/host.store.ts'
import { isUsable } from '../../hosting/host-state.ts'
import type { Bound } from '../../hosting/identity/bind.ts'
import { givenUp } from '../../hosting/identity/faults.ts'
import { OperatorError } from '../../platform/operator-error.ts'
import { haveStorageInCommon } from '../../resources/backups/sync/sync-source.ts'
import type { ProcessContext } from '../process-context.ts'

/** Tells control and edges where the host is from now on. @returns its id @throws OperatorError for a host that is marked lost or removed, or that has backups of its own beside others */
export function announceHost({ config, database }: ProcessContext, { name, identity }: Bound, address: string) {
  const datacenters = config.hostDatacenters.join(',')
  const { host, epoch } = identity.current
  return database.transaction(async (tx) => {
    const id = await registerHost(tx, { name, address, datacenters, identity: host, epoch })
    const state = await hostState(tx, id)
    if (state !== undefined && !isUsable(state)) throw givenUp(name, state)
    if (!haveStorageInCommon(config)) {
      const others = await otherHosts(tx, id)
      if (others.length > 0) throw storageOfOneHost(name, others)
    }
    // its port is another one after each start: edges that learn it from a refused connection have refused a visitor
    await recordHost(tx, id)
    return id
  })
}

/** Backups that lie on the disk which they protect bring nothing back on another host. */
const storageOfOneHost = (name: string, others: readonly string[]): OperatorError =>
  new OperatorError(
    `${name} cannot start beside ${others.join(', ')}: backups would stay on the disk of each host, and be lost with it. ` +
      'On all hosts and controls, set STEAD_BACKUP_S3_BUCKET, or STEAD_BACKUP_DIR to a folder that all machines share. ' +
      'A host that no longer exists is taken off the list with stead host remove --name=NAME.',
  )
