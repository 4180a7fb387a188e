import Type from 'typebox'
import { durableWith, type StepContext } from '../../platform/operations/definition.ts'
import type { HostServices } from '../kit/host-services.ts'
import { findSite, holdSite, isInstalled, purgeCaches } from '../sites/public.ts'
import { bringAllToSite } from './bring-all.ts'
import { dropDeletedFrom } from './member.store.ts'
import { dropForgotten } from './mu-plugin.store.ts'

type Context = StepContext<{ siteId: number }, HostServices>

/** Updates the must-use plugins of one site to match the database, in its turn in the site's queue. */
export const bringToSite = durableWith<HostServices>()({
  name: 'mu_plugin.bring_to_site',
  input: Type.Object({ siteId: Type.Integer() }),
  on: 'host',
  changeableBy: 'account',
  steps: {
    bring: { run: bring },
    record: {
      async commit(tx, { input }) {
        if (!(await holdSite(tx, input.siteId))) return
        await dropDeletedFrom(tx, [input.siteId])
        await dropForgotten(tx)
        await purgeCaches(tx, input.siteId, { pages: 'all' })
      },
    },
  },
})

async function bring({ services, input }: Context): Promise<{ warning?: string }> {
  const site = await findSite(services.database.read, input.siteId)
  // A site that is being created gets them then.
  if (!site || !isInstalled(site)) return {}
  const { faults } = await bringAllToSite(services, site)
  return faults.length > 0 ? { warning: faults.join('; ').slice(0, 1000) } : {}
}
