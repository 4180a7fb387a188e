import Type from 'typebox'
import { changeWpConfig } from '../../../hosting/site-files/platform/wp-config-file.ts'
import { durableWith, type StepContext } from '../../../platform/operations/definition.ts'
import type { HostServices } from '../../kit/host-services.ts'
import { moveStagingRoute } from '../addresses/route.store.ts'
import { networkConstants, noNetwork } from '../network/network.ts'
import { changeSite, findSite, holdSite, writtenAddressOf } from '../site.store.ts'
import { siteAddress, siteConstants, stagingHostName } from '../site.ts'
import { siteFilled } from '../wordpress/site-filled.ts'
import { purgeCaches } from './purge.store.ts'

type Context<Results = unknown> = StepContext<{ siteId: number }, HostServices, Results>

/** Updates constants and address on the site's disk and in its database to match the site's record. */
export const configureSite = durableWith<HostServices>()({
  name: 'site.configure',
  input: Type.Object({ siteId: Type.Integer() }),
  on: 'host',
  changeableBy: { site: 'manage performance' },
  steps: {
    constants: { run: writeConstants },
    address: { run: followAddress },
    network: { run: makeNetwork },
    record: {
      async commit(tx, context) {
        const { to } = context.results.address
        const { siteId } = context.input
        const now = context.now()
        const site = await holdSite(tx, siteId)
        if (!site) return
        await moveStagingRoute(tx, siteId, stagingHostName(site.name, context.services.config), now)
        if (to) await changeSite(tx, siteId, { writtenAddress: to }, now)
        // Older pages are of another network, address or environment.
        await purgeCaches(tx, siteId, { pages: 'all', files: 'all' })
      },
    },
  },
})

async function writeConstants({ services, input }: Context): Promise<void> {
  const site = await findSite(services.database.read, input.siteId)
  const directory = await services.siteDirectories.ofSite(input.siteId)
  if (!site || !directory) return
  // A network's own constants come last, once WordPress has its tables. They are removed while the address changes,
  // because WordPress does not even load if they name another address than its tables.
  const from = await writtenAddressOf(services.database.read, input.siteId)
  const isStill = from === siteAddress(site, services.config)
  const change = site.hasMultisite && isStill ? siteConstants(site) : { ...siteConstants(site), ...noNetwork }
  if (await changeWpConfig(directory.path, directory.uid, change)) await services.pool.restart(site.id)
  // The site may have been recovered from the trash.
  await siteFilled(services, site.id)
}

/** Has WordPress create the tables of a network. Then sets the constants that make WordPress use them. */
async function makeNetwork({ services, input, results }: Context<{ address: Moved }>): Promise<void> {
  const site = await findSite(services.database.read, input.siteId)
  const directory = await services.siteDirectories.ofSite(input.siteId)
  const hosted = await services.hostedSite(input.siteId)
  if (!site?.hasMultisite || !directory || !hosted) return
  const { to: address = hosted.address } = results.address
  const made = await services.pool.runTask(hosted, 'make-network', { title: site.displayName })
  const change = networkConstants(made, address)
  if (await changeWpConfig(directory.path, directory.uid, change)) await services.pool.restart(site.id)
}

/** The earlier and the new address. Empty if it stayed the same. */
type Moved = { from?: string; to?: string }

/** Updates the site's own links after the primary domain, the staging domain or the edge's port changed. */
async function followAddress({ services, input }: Context): Promise<Moved> {
  const site = await findSite(services.database.read, input.siteId)
  const hosted = await services.hostedSite(input.siteId)
  const from = await writtenAddressOf(services.database.read, input.siteId)
  if (!site || !hosted || !from) return {}
  const to = siteAddress(site, services.config)
  if (from === to) return {}
  await services.pool.runTask(hosted, 'replace-address', { from, to }, { timeoutMs: 600_000 })
  return { from, to }
}
