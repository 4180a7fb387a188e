import { durableWith } from '../../../platform/operations/definition.ts'
import type { HostServices } from '../../kit/host-services.ts'
import { findSite } from '../../sites/public.ts'
import { Copied } from './relocation.ts'

/** Removes a copy of a site from the host that no longer has, or never had, the site. */
export const removeCopy = durableWith<HostServices>()({
  name: 'site.remove_copy',
  input: Copied,
  on: 'host',
  changeableBy: 'account',
  steps: {
    remove: {
      async run({ services, input }) {
        const { database, hostId, pool, siteDirectories } = services
        const site = await findSite(database.read, input.siteId)
        // PHP of the copy, from its check.
        if (site?.hostId !== hostId) await pool.stop(input.siteId)
        await siteDirectories.removeCopy(input)
      },
    },
  },
})
