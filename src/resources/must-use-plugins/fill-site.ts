import type { Tx } from '../../platform/db/database.ts'
import type { HostServices } from '../kit/host-services.ts'
import type { Site } from '../sites/site.ts'
import { bringAllToSite } from './bring-all.ts'
import { addToNewSite, dropDeletedFrom, dropMemberships, hasMuPlugins } from './member.store.ts'
import { dropForgotten } from './mu-plugin.store.ts'

/**
 * A new site and a clone get what they are to have before they answer; after a restore or a sync a site has again what it is to have, and nothing of
 * plugins that were deleted since.
 */
export async function fillSite(services: HostServices, site: Site): Promise<void> {
  if (!(await hasMuPlugins(services.database.read, site.accountId))) return
  if (site.state === 'deploying' || site.state === 'cloning')
    await services.database.transaction((tx) => addToNewSite(tx, site))
  await bringAllToSite(services, site)
  await services.database.transaction((tx) => dropDeletedFrom(tx, [site.id]))
}

/** The last site that had a deleted plugin may be gone with it. */
export async function forgetSite(tx: Tx, siteId: number): Promise<void> {
  await dropMemberships(tx, siteId)
  await dropForgotten(tx)
}
