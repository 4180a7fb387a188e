import { hostedSites } from '../../hosting/host.store.ts'
import { enqueue } from '../../platform/operations/enqueue.ts'
import { findSite } from '../../resources/sites/site.store.ts'
import { siteAddress } from '../../resources/sites/site.ts'
import { configureSite } from '../../resources/sites/switches/configure-site.job.ts'
import type { ProcessContext } from '../process-context.ts'

/**
 * Reconfigures sites whose own database has another address than the current settings (staging domain, port of the
 * edge).
 */
export async function followAddresses({ config, database }: ProcessContext, hostId: number): Promise<void> {
  for (const { siteId, address } of await hostedSites(database.read, hostId)) {
    const site = await findSite(database.read, siteId)
    if (!site || siteAddress(site, config) === address) continue
    await database.transaction((tx) =>
      enqueue(tx, configureSite, { siteId }, { siteId, accountId: site.accountId, hostId }),
    )
  }
}
