import type { PhpRuntime, PhpSite } from '../php/runtime.ts'
import { type SiteDatabase, SiteUnavailable } from './site-database.ts'

interface Watched {
  readonly siteId: number
  readonly siteDirectory: string
}

export interface SiteWatchOptions {
  readonly database: SiteDatabase
  /** A site was found lost, for the first time since it was last well or this process started. */
  readonly onLost: (siteId: number, fault: string) => void
  readonly log: { error(facts: object, message: string): void; info(facts: object, message: string): void }
}

/** Keeps sites whose files are lost from being served as something else: nothing of them is, until they are back. */
export interface SiteWatch {
  /** @throws SiteUnavailable */
  check(site: Watched): void
  /** The runtime, which starts no PHP for a site that is lost. */
  guard(runtime: PhpRuntime): PhpRuntime
  /** How many sites are known to be lost. */
  lost(): number
}

export function watchSites({ database, onLost, log }: SiteWatchOptions): SiteWatch {
  const lost = new Map<number, string>()
  const note = ({ siteId, siteDirectory }: Watched, fault: string | undefined) => {
    const before = lost.get(siteId)
    if (fault === before) return
    if (fault === undefined) {
      lost.delete(siteId)
      log.info({ siteId }, 'a site that was lost is there again')
      return
    }
    lost.set(siteId, fault)
    log.error({ siteId, folder: siteDirectory, fault }, 'a site is lost: it is not served until it is put back')
    if (before === undefined) onLost(siteId, fault)
  }
  const siteOf = (site: PhpSite): Watched => ({ siteId: (site as PhpSite & { siteId?: number }).siteId ?? 0, ...site })
  return {
    check(site) {
      // a header that is damaged is looked at again until it is well
      const fault = lost.has(site.siteId) ? database.inspect(site.siteDirectory) : database.glance(site.siteDirectory)
      note(site, fault)
      if (fault) throw new SiteUnavailable(fault)
    },
    guard: (runtime) => ({
      usualBytes: (site) => runtime.usualBytes(site),
      containment: () => runtime.containment(),
      close: () => runtime.close(),
      async start(site, options) {
        const watched = siteOf(site)
        const fault = database.inspect(site.siteDirectory)
        if (watched.siteId !== 0) note(watched, fault)
        if (fault) throw new SiteUnavailable(`The site cannot be served: ${fault}`)
        return runtime.start(site, options)
      },
    }),
    lost: () => lost.size,
  }
}
