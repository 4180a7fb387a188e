import Type from 'typebox'
import type { ListedPlugin } from '../../hosting/php/tasks.ts'
import type { Tx } from '../../platform/db/database.ts'
import { durableWith, type StepContext } from '../../platform/operations/definition.ts'
import { enqueue, ROUTINE } from '../../platform/operations/enqueue.ts'
import type { HostServices } from '../kit/host-services.ts'
import { findSite, holdSite, runSiteTask, type Site } from '../sites/public.ts'
import { storePlugins } from './plugin.store.ts'

/** Lists the plugins of a site's WordPress. */
export const listPluginsJob = durableWith<HostServices>()({
  name: 'plugin.list',
  input: Type.Object({ siteId: Type.Integer() }),
  on: 'host',
  changeableBy: 'account',
  attempts: 2,
  steps: { list: { run: listPlugins } },
})

/**
 * Enqueues the listing outside the site's queue, because a user waits for it and it changes nothing. Lists of
 * operations hide it.
 */
export const lookAtPlugins = (tx: Tx, { id, hostId }: Pick<Site, 'id' | 'hostId'>, now: number): Promise<number> =>
  enqueue(tx, listPluginsJob, { siteId: id }, { hostId, source: ROUTINE, now })

/**
 * Enqueues the listing after a site has reported that WooCommerce was activated, deactivated, or deleted in WordPress
 * itself: the advice for shops reads the stored list.
 */
export async function lookAtShop(tx: Tx, siteId: number, now: number): Promise<void> {
  const site = await findSite(tx, siteId)
  if (site) await lookAtPlugins(tx, site, now)
}

type Context = Pick<StepContext<{ siteId: number }, HostServices>, 'services' | 'input' | 'transaction' | 'now'>

async function listPlugins({ services, input, transaction, now }: Context): Promise<void> {
  const { siteId } = input
  const listed = await runSiteTask(services, siteId, 'list-plugins', {})
  await transaction(async (tx) => {
    if (await holdSite(tx, siteId)) await storePlugins(tx, siteId, listed, now())
  })
}

/** Returns the plugins that are installed at this moment. */
export async function pluginsOf(services: HostServices, siteId: number): Promise<ListedPlugin[]> {
  return (await runSiteTask(services, siteId, 'list-plugins', {})).plugins
}
