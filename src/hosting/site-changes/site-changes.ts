import { LRUCache } from 'lru-cache'
import { MINUTE_MS } from '../../platform/durations.ts'

/** What of a site's pages and files is out of date. */
export interface Change {
  readonly pages: 'all' | readonly string[]
  readonly files: boolean
}

/** A change as a site says it. */
interface Said extends Change {
  /** Nobody knows whether pages show it: it may wait a few seconds, and nobody waits for it. */
  readonly isSoft: boolean
}

export interface SiteChangesOptions {
  /** Orders the edges to let go; resolves with the number of the purge. */
  readonly record: (siteId: number, change: Change) => Promise<number>
  readonly log: { warn(facts: object, message: string): void }
  /** Changes of a site within this time of the last order wait and go together. */
  readonly pauseMs?: number
  /** Orders of a site in a minute before it has to wait longer. */
  readonly mostPerMinute?: number
  /** The pause of a site that changes all the time. */
  readonly longPauseMs?: number
  /** The pause before what nobody knows to be shown. */
  readonly softPauseMs?: number
}

/** What sites say of changes, on its way to the edges. */
export interface SiteChanges {
  /** Takes what a site said (see `changes.php`); whatever makes no sense is dropped. */
  take(siteId: number, text: string): void
  /**
   * Resolves with the number of the purge when what the site has said so far is ordered (0: that failed for now). An order that went
   * out before the answer of the request that caused it counts as well: an edge may not know of it yet. Undefined when the site
   * has not said anything of late, or changes so often that nobody should wait for it.
   */
  settled(siteId: number): Promise<number> | undefined
  /** Orders what waits. */
  close(): Promise<void>
}

const MOST_PATHS = 100
/**
 * What is read of a site's words in a second: a change with the most paths, each as long as it may be, is 200 kB. A site may say
 * such things without a pause, and reading them would be all that the host does.
 */
const MOST_SAID = 256 << 10
const EVERYTHING: Said = { pages: 'all', files: true, isSoft: false }
const RETRY_MS = 1_000

/** A site with something to say, or that said something a moment ago. */
interface Site {
  pages: 'all' | Set<string>
  files: boolean
  /** Only soft changes wait. */
  isSoft: boolean
  done: PromiseWithResolvers<number> | undefined
  timer: NodeJS.Timeout | undefined
  running: Promise<void> | undefined
  /** Of the order that is on its way. */
  ordering: Promise<number> | undefined
  /** Number of the last purge; 0 before the first. */
  lastSeq: number
  lastMs: number
  /** When the last orders went out. */
  recent: number[]
}

/** An editor that saves twenty times a second makes five orders a second, and a site that never stops one in five seconds. */
export function createSiteChanges(options: SiteChangesOptions): SiteChanges {
  const { record, log, pauseMs = 200, mostPerMinute = 60, longPauseMs = 5_000, softPauseMs = 3_000 } = options
  const sites = new Map<number, Site>()
  /** Characters that sites have said, each within a second. */
  const said = new LRUCache<number, { characters: number }>({ max: 1000, ttl: 1000 })
  let isClosing = false

  const isTalkative = (siteId: number, characters: number) => {
    const count = said.get(siteId) ?? { characters: 0 }
    if (count.characters === 0) said.set(siteId, count)
    count.characters += characters
    return count.characters > MOST_SAID
  }
  const isRestless = (site: Site) => {
    const nowMs = performance.now()
    site.recent = site.recent.filter((atMs) => nowMs - atMs < MINUTE_MS)
    return site.recent.length >= mostPerMinute
  }
  const plan = (siteId: number, site: Site, leastMs = 0) => {
    if (site.timer || site.running) return
    const pause = isRestless(site) ? longPauseMs : site.isSoft ? softPauseMs : pauseMs
    const waitMs = Math.max(leastMs, site.lastMs + pause - performance.now(), 0)
    if (waitMs === 0) void flush(siteId, site)
    else site.timer = setTimeout(() => void flush(siteId, site), waitMs)
  }
  const flush = (siteId: number, site: Site): Promise<void> => {
    clearTimeout(site.timer)
    site.timer = undefined
    site.running = order(siteId, site).then((isOrdered) => {
      site.running = undefined
      site.ordering = undefined
      if (site.done && !isClosing) plan(siteId, site, isOrdered ? 0 : RETRY_MS)
      else setTimeout(() => forget(siteId, site), MINUTE_MS).unref()
    })
    return site.running
  }
  const order = async (siteId: number, site: Site): Promise<boolean> => {
    const { pages, files, done } = site
    site.pages = new Set()
    site.files = false
    site.isSoft = false
    site.ordering = done?.promise
    site.done = undefined
    site.lastMs = performance.now()
    site.recent.push(site.lastMs)
    try {
      site.lastSeq = await record(siteId, { pages: pages === 'all' ? pages : [...pages], files })
      done?.resolve(site.lastSeq)
      return true
    } catch (error) {
      log.warn({ err: error, siteId }, 'a purge could not be ordered; it is tried again')
      // whoever waits is let go; the order itself is kept
      done?.resolve(0)
      merge(site, pages, files)
      site.done ??= Promise.withResolvers()
      return false
    }
  }
  const forget = (siteId: number, site: Site) => {
    if (!site.done && !site.running && performance.now() - site.lastMs >= MINUTE_MS) sites.delete(siteId)
  }
  return {
    take(siteId, text) {
      // whoever says more than can be listened to has changed everything
      const change = isTalkative(siteId, text.length) ? EVERYTHING : readChange(text)
      if (!change) return
      const site: Site = sites.get(siteId) ?? {
        pages: new Set(),
        files: false,
        isSoft: false,
        done: undefined,
        timer: undefined,
        running: undefined,
        ordering: undefined,
        lastSeq: 0,
        lastMs: Number.NEGATIVE_INFINITY,
        recent: [],
      }
      sites.set(siteId, site)
      const isFirst = site.done === undefined
      merge(site, change.pages, change.files)
      if (site.isSoft && !change.isSoft) {
        // what is known to be shown takes along what waits
        clearTimeout(site.timer)
        site.timer = undefined
      }
      site.isSoft = change.isSoft && (isFirst || site.isSoft)
      site.done ??= Promise.withResolvers()
      plan(siteId, site)
    },
    settled(siteId) {
      const site = sites.get(siteId)
      if (!site || isRestless(site)) return undefined
      const awaited = site.isSoft ? undefined : site.done?.promise
      return awaited ?? site.ordering ?? Promise.resolve(site.lastSeq)
    },
    async close() {
      isClosing = true
      for (const [siteId, site] of sites) {
        await site.running
        if (site.done) await flush(siteId, site)
      }
    },
  }
}

function merge(site: Site, pages: 'all' | Iterable<string>, files: boolean): void {
  site.files ||= files
  if (pages === 'all' || site.pages === 'all') site.pages = 'all'
  else {
    for (const path of pages) site.pages.add(path)
    if (site.pages.size > MOST_PATHS) site.pages = 'all'
  }
}

/** @returns undefined for what is no change; paths that make no sense count as everything */
function readChange(text: string): Said | undefined {
  let said: unknown
  try {
    said = JSON.parse(text)
  } catch {
    return undefined
  }
  const change = (said as { changed?: { all?: unknown; soft?: unknown; files?: unknown; paths?: unknown } } | null)
    ?.changed
  if (typeof change !== 'object' || change === null) return undefined
  const paths: unknown[] = Array.isArray(change.paths) ? change.paths : []
  const isAll = change.all === true || paths.length > MOST_PATHS || !paths.every(isPath)
  const pages = isAll ? 'all' : (paths as string[])
  const files = change.files === true
  return pages.length === 0 && !files ? undefined : { pages, files, isSoft: change.soft === true }
}

const isPath = (path: unknown): path is string => typeof path === 'string' && /^\/[\x21-\x7e]{0,2000}$/.test(path)
