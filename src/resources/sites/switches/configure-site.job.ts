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

/** Brings what is written on the site's disk and in its database in line with the site's record: constants and address. */
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
        // pages from before are of another network, address or environment
        await purgeCaches(tx, siteId, { pages: 'all', files: true })
      },
    },
  },
})

async function writeConstants({ services, input }: Context): Promise<void> {
  const site = await findSite(services.database.read, input.siteId)
  const directory = await services.siteDirectories.ofSite(input.siteId)
  if (!site || !directory) return
  // A network's own constants come last, when WordPress has its tables. While the address changes they are out: WordPress does not
  // even load where they say another one than its tables do.
  const from = await writtenAddressOf(services.database.read, input.siteId)
  const isStill = from === siteAddress(site, services.config)
  const change = site.hasMultisite && isStill ? siteConstants(site) : { ...siteConstants(site), ...noNetwork }
  if (await changeWpConfig(directory.path, directory.uid, change)) await services.pool.restart(site.id)
  // one that comes back from the trash
  await siteFilled(services, site.id)
}

/** The tables of a network, as WordPress makes them, and then the constants that make it look there. */
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

/** From which address to which; empty: it stayed. */
type Moved = { from?: string; to?: string }

/** Another primary domain, staging domain or port of the edge: the site's own links follow. */
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
