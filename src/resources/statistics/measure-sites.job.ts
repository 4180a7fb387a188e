import Type from 'typebox'
import { hostedSites } from '../../hosting/host.store.ts'
import { isOnServer } from '../../hosting/site-database/database-kind.ts'
import { DATABASE_FOLDER } from '../../hosting/site-database/sqlite-place.ts'
import type { SiteDirectory } from '../../hosting/site-directories/site-directory.ts'
import { diskUsages } from '../../hosting/site-files/disk-usage.ts'
import type { Log } from '../../platform/log/log.ts'
import { durableWith } from '../../platform/operations/definition.ts'
import type { HostServices } from '../kit/host-services.ts'
import { type SiteDiskUsage, storeUsages } from './statistics.store.ts'

/** Only the site's own files. WordPress' shared folders are elsewhere. */
const FILES = 'web'

/** Sites that are measured together: one start of `du`, one commit. */
const TOGETHER = 50

interface Measured {
  readonly siteId: number
  readonly directory: SiteDirectory
}

async function usagesOf(
  { siteDatabase }: HostServices,
  sites: readonly Measured[],
): Promise<Map<number, SiteDiskUsage>> {
  const sizes = await diskUsages(
    sites.map(({ directory }) => directory.path),
    [FILES, DATABASE_FOLDER],
  )
  const usages = new Map<number, SiteDiskUsage>()
  for (const [index, { siteId, directory }] of sites.entries()) {
    const [fileBytes = 0, inDirectory = 0] = sizes[index] ?? []
    const databaseBytes = isOnServer(directory.database)
      ? await siteDatabase.size({ siteId, siteDirectory: directory.path, uid: directory.uid })
      : inDirectory
    usages.set(siteId, { fileBytes, databaseBytes })
  }
  return usages
}

/** Measures one site, soon after it goes live. */
export const measureSite = durableWith<HostServices>()({
  name: 'statistics.measure_site',
  input: Type.Object({ siteId: Type.Integer() }),
  on: 'host',
  changeableBy: 'account',
  attempts: 2,
  steps: {
    measure: {
      async run({ services, input, now, transaction }) {
        const directory = await services.siteDirectories.ofSite(input.siteId)
        if (!directory) return
        const usages = await usagesOf(services, [{ siteId: input.siteId, directory }])
        await transaction((tx) => storeUsages(tx, usages, now()))
      },
    },
  },
})

/** Measures the disk usage of each site of a host, in batches. */
export const measureSites = durableWith<HostServices>()({
  name: 'statistics.measure',
  input: Type.Object({}),
  on: 'host',
  changeableBy: 'account',
  steps: {
    measure: {
      async run({ services, signal, log, now, transaction, progress }) {
        const sites = await hostedSites(services.database.read, services.hostId)
        for (let from = 0; from < sites.length; from += TOGETHER) {
          const some: Measured[] = []
          for (const { siteId } of sites.slice(from, from + TOGETHER)) {
            const directory = await services.siteDirectories.ofSite(siteId)
            if (directory) some.push({ siteId, directory })
          }
          signal.throwIfAborted()
          // A site that fails or is slow does not keep the others from being measured.
          const usages =
            (await usagesOf(services, some).catch(() => undefined)) ??
            (await eachAlone(services, some, { signal, log }))
          signal.throwIfAborted()
          await transaction((tx) => storeUsages(tx, usages, now()))
          progress(Math.min(1, (from + TOGETHER) / sites.length))
        }
      },
    },
  },
})

async function eachAlone(
  services: HostServices,
  sites: readonly Measured[],
  { signal, log }: { signal: AbortSignal; log: Log },
): Promise<Map<number, SiteDiskUsage>> {
  const all = new Map<number, SiteDiskUsage>()
  for (const site of sites) {
    signal.throwIfAborted()
    try {
      for (const [siteId, usage] of await usagesOf(services, [site])) all.set(siteId, usage)
    } catch (error) {
      log.warn({ err: error, siteId: site.siteId }, 'could not measure a site')
    }
  }
  return all
}
