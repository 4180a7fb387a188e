import Type from 'typebox'
import type { Home } from '../../hosting/homes/homes.ts'
import { hostedSites } from '../../hosting/host.store.ts'
import { diskUsage } from '../../hosting/site-files/disk-usage.ts'
import { durableWith } from '../../platform/operations/definition.ts'
import type { HostServices } from '../host-services.ts'
import { storeUsage } from './statistics.store.ts'

/** The site's own files; WordPress' shared folders lie elsewhere. */
const FILES = 'web'
const DATABASE = 'private/database'

async function usageOf({ siteDatabase }: HostServices, siteId: number, home: Home) {
  const [fileBytes = 0, inHome = 0] = await diskUsage(home.path, [FILES, DATABASE])
  const isOnServer = home.database === 'mariadb'
  const databaseBytes = isOnServer ? await siteDatabase.size({ siteId, homePath: home.path, uid: home.uid }) : inHome
  return { fileBytes, databaseBytes }
}

/** Measures one site, soon after it went live. */
export const measureSite = durableWith<HostServices>()({
  name: 'statistics.measure_site',
  input: Type.Object({ siteId: Type.Integer() }),
  on: 'host',
  changeableBy: 'account',
  attempts: 2,
  steps: {
    measure: {
      async run({ services, input, now, transaction }) {
        const home = await services.homes.ofSite(input.siteId)
        if (!home) return
        const usage = await usageOf(services, input.siteId, home)
        await transaction((tx) => storeUsage(tx, input.siteId, usage, now()))
      },
    },
  },
})

/** Measures what each site of a host takes on its disk, one after the other. */
export const measureSites = durableWith<HostServices>()({
  name: 'statistics.measure',
  input: Type.Object({}),
  on: 'host',
  changeableBy: 'account',
  steps: {
    measure: {
      async run({ services, signal, log, now, transaction, progress }) {
        const sites = await hostedSites(services.database.read, services.hostId)
        for (const [index, { siteId }] of sites.entries()) {
          signal.throwIfAborted()
          const home = await services.homes.ofSite(siteId)
          if (!home) continue
          try {
            const usage = await usageOf(services, siteId, home)
            await transaction((tx) => storeUsage(tx, siteId, usage, now()))
          } catch (error) {
            signal.throwIfAborted()
            log.warn({ err: error, siteId }, 'a site could not be measured')
          }
          progress(index / sites.length)
        }
      },
    },
  },
})
