import Type from 'typebox'
import { durableWith, type StepContext } from '../../../platform/operations/definition.ts'
import type { HostServices } from '../../kit/host-services.ts'
import { findSite } from '../site.store.ts'
import { purgeCaches } from './purge.store.ts'

/** What PHP is doing may take so long; whoever waits behind it is told to come again. */
const GRACE_MS = 10_000

/** Has a site's PHP start as its record says, with or without plugins, and edges forget the pages from before. */
export const switchSafeMode = durableWith<HostServices>()({
  name: 'site.switch_safe_mode',
  input: Type.Object({ siteId: Type.Integer() }),
  on: 'host',
  changeableBy: { site: 'administer the CMS' },
  backoff: { firstMs: 200 },
  steps: {
    php: { run: endPhp },
    purge: {
      async commit(tx, { input }) {
        await purgeCaches(tx, input.siteId, { pages: 'all' })
      },
    },
  },
})

/**
 * Ends PHP: the next request starts it as the site is known by then. A plugin that made it crash has it wait no longer.
 * @throws when this host does not know of the switch yet: pages from before would be stored after the purge
 */
async function endPhp({ services, input }: StepContext<{ siteId: number }, HostServices>): Promise<void> {
  const site = await findSite(services.database.read, input.siteId)
  const hosted = await services.hostedSite(input.siteId)
  if (!site || !hosted) return
  if (hosted.inSafeMode !== site.isInSafeMode) throw new Error('The host has not applied the change yet')
  await services.pool.stop(site.id, GRACE_MS)
}
