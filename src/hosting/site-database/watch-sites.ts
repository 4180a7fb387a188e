import type { PhpRuntime, PhpSite } from '../php/runtime.ts'
import { type SiteDatabase, SiteUnavailable } from './site-database.ts'

interface Watched {
  readonly siteId: number
  readonly siteDirectory: string
}

export interface SiteWatchOptions {
  readonly database: SiteDatabase
  /** Called when a site is found lost, for the first time since it was last intact or this process started. */
  readonly onLost: (siteId: number, fault: string) => void
  readonly log: { error(facts: object, message: string): void; info(facts: object, message: string): void }
}

/** Keeps sites with lost files from being served as something else: they are not served until the files are back. */
export interface SiteWatch {
  /** @throws SiteUnavailable */
  check(site: Watched): void
  /** Wraps the runtime, so that it starts no PHP for a lost site. */
  guard(runtime: PhpRuntime): PhpRuntime
  /** Returns the number of sites that are known to be lost. */
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
      // A damaged header is checked again until it is intact.
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
