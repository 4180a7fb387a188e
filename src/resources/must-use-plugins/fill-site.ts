import type { Tx } from '../../platform/db/database.ts'
import type { HostServices } from '../kit/host-services.ts'
import type { Site } from '../sites/public.ts'
import { bringAllToSite } from './bring-all.ts'
import { addToNewSite, dropDeletedFrom, dropMemberships, hasMuPlugins } from './member.store.ts'
import { dropForgotten } from './mu-plugin.store.ts'

/**
 * Gives a new site or a clone its plugins before it serves pages. After a restore or a sync, installs the site's
 * plugins again, and removes those that were deleted since.
 */
export async function fillSite(services: HostServices, site: Site): Promise<void> {
  if (!(await hasMuPlugins(services.database.read, site.accountId))) return
  if (site.state === 'deploying' || site.state === 'cloning')
    await services.database.transaction((tx) => addToNewSite(tx, site))
  await bringAllToSite(services, site)
  await services.database.transaction((tx) => dropDeletedFrom(tx, [site.id]))
}

/** Removes a site's entries. It may be the last site with a deleted plugin. */
export async function forgetMuPluginsOfSite(tx: Tx, siteId: number): Promise<void> {
  await dropMemberships(tx, siteId)
  await dropForgotten(tx)
}
