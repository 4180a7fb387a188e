import { recordHost } from '../../edge/routing/route-changes.store.ts'
import { registerHost } from '../../hosting/host.store.ts'
import type { Bound } from '../../hosting/identity/bind.ts'
import type { ProcessContext } from '../process-context.ts'

/** Tells control and edges where the host is from now on. @returns its id */
export function announceHost({ config, database }: ProcessContext, { name, identity }: Bound, address: string) {
  const datacenters = config.hostDatacenters.join(',')
  const { host, epoch } = identity.current
  return database.transaction(async (tx) => {
    const id = await registerHost(tx, { name, address, datacenters, identity: host, epoch })
    // its port is another one after each start: edges that learn it from a refused connection have refused a visitor
    await recordHost(tx, id)
    return id
  })
}
