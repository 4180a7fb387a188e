import Type from 'typebox'
import { durableWith, type StepContext } from '../../../platform/operations/definition.ts'
import type { HostServices } from '../../kit/host-services.ts'
import { findSite } from '../site.store.ts'
import { purgeCaches } from './purge.store.ts'

/** Running PHP may take this long. Requests that wait behind it get 503 with `Retry-After`. */
const GRACE_MS = 10_000

/** Restarts a site's PHP with or without plugins, as its record says, and purges the older pages from edges. */
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
 * Stops PHP, so that the next request starts it with the current settings of the site. Clears the back-off after
 * crashes, which a plugin may have caused.
 * @throws when this host does not know of the switch yet, because older pages would be stored after the purge
 */
async function endPhp({ services, input }: StepContext<{ siteId: number }, HostServices>): Promise<void> {
  const site = await findSite(services.database.read, input.siteId)
  const hosted = await services.hostedSite(input.siteId)
  if (!site || !hosted) return
  if (hosted.isInSafeMode !== site.isInSafeMode) throw new Error('The host has not applied the change yet')
  await services.pool.stop(site.id, GRACE_MS)
}
