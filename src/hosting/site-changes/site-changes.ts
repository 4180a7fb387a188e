import { LRUCache } from 'lru-cache'
import { MINUTE_MS } from '../../platform/durations.ts'

/** The outdated pages and files of a site. */
export interface OutdatedContent {
  readonly pages: 'all' | readonly string[]
  /** All files, or those of some paths. A list, because files do not become outdated when all pages are. */
  readonly files: 'all' | readonly string[]
  /** Whether WooCommerce was activated, deactivated, or deleted. */
  readonly shop: boolean
  /** Whether plugins, themes, or the updates that WordPress knows have changed. */
  readonly extensions: boolean
}

/** A change as a site reports it. */
interface Said extends OutdatedContent {
  /** Whether it is unknown that pages show it. Then it may wait a few seconds, and no caller waits for it. */
  readonly isSoft: boolean
}

export interface SiteChangesOptions {
  /** Orders a purge from the edges. Resolves with the number of the purge. */
  readonly record: (siteId: number, change: OutdatedContent) => Promise<number>
  readonly log: { warn(facts: object, message: string): void }
  /** Changes of a site within this time after the last order wait, and are ordered together. */
  readonly pauseMs?: number
  /** The most orders of a site per minute, before it has to wait longer. */
  readonly mostPerMinute?: number
  /** The pause for a site that changes all the time. */
  readonly longPauseMs?: number
  /** The pause before changes that may not be visible. */
  readonly softPauseMs?: number
}

/** Passes changes that sites report to the edges. */
export interface SiteChanges {
  /** Takes a report of a site (see `changes.php`). Drops whatever is invalid. */
  take(siteId: number, text: string): void
  /**
   * Resolves with the number of the purge when the changes reported so far are ordered (0 if that failed for now).
   * Includes an order that went out before the answer to the request that caused it, because an edge may not know it
   * yet. Returns undefined when the site has reported nothing recently, or changes so often that callers should not
   * wait.
   */
  settled(siteId: number): Promise<number> | undefined
  /** Orders the waiting changes. */
  close(): Promise<void>
}

const MOST_PATHS = 100
/**
 * The most characters of reports that are read per site and second. A change with the most paths, each of the greatest
 * length, is 200 kB. A site may send such reports without a pause, and reading them all would take up the host.
 */
const MOST_SAID = 256 << 10
const EVERYTHING: Said = { pages: 'all', files: 'all', shop: true, extensions: true, isSoft: false }
const RETRY_MS = 1_000

/** A site with waiting or recent reports. */
interface Site {
  pages: 'all' | Set<string>
  files: 'all' | Set<string>
  shop: boolean
  extensions: boolean
  /** Whether only soft changes wait. */
  isSoft: boolean
  done: PromiseWithResolvers<number> | undefined
  timer: NodeJS.Timeout | undefined
  running: Promise<void> | undefined
  /** The order in progress. */
  ordering: Promise<number> | undefined
  /** Whether the last order failed: the database is away, and nobody waits for the next attempts. */
  isFailing: boolean
  /** The number of the last purge, or 0 before the first. */
  lastSeq: number
  lastMs: number
  /** The times of the last orders. */
  recent: number[]
}

/**
 * Creates the collector of changes. An editor that saves twenty times a second causes five orders a second. A site that
 * never stops causes one in five seconds.
 */
export function createSiteChanges(options: SiteChangesOptions): SiteChanges {
  const { record, log, pauseMs = 200, mostPerMinute = 60, longPauseMs = 5_000, softPauseMs = 3_000 } = options
  const sites = new Map<number, Site>()
  /** Characters that sites have reported, each within a second. */
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
    const { pages, files, shop, extensions, done } = site
    site.pages = new Set()
    site.files = new Set()
    site.shop = false
    site.extensions = false
    site.isSoft = false
    site.ordering = done?.promise
    site.done = undefined
    site.lastMs = performance.now()
    site.recent.push(site.lastMs)
    try {
      const seq = await record(siteId, { pages: listed(pages), files: listed(files), shop, extensions })
      // A change that no page shows has no purge.
      site.lastSeq = Math.max(site.lastSeq, seq)
      site.isFailing = false
      done?.resolve(site.lastSeq)
      return true
    } catch (error) {
      log.warn({ err: error, siteId }, 'a purge could not be ordered; it is tried again')
      site.isFailing = true
      // Releases waiting callers. The order itself is kept.
      done?.resolve(0)
      merge(site, { pages, files, shop, extensions })
      site.done ??= Promise.withResolvers()
      return false
    }
  }
  const forget = (siteId: number, site: Site) => {
    if (!site.done && !site.running && performance.now() - site.lastMs >= MINUTE_MS) sites.delete(siteId)
  }
  return {
    take(siteId, text) {
      // A site that reports more than is read counts as completely changed.
      const change = isTalkative(siteId, text.length) ? EVERYTHING : readChange(text)
      if (!change) return
      const site: Site = sites.get(siteId) ?? {
        pages: new Set(),
        files: new Set(),
        shop: false,
        extensions: false,
        isSoft: false,
        done: undefined,
        timer: undefined,
        running: undefined,
        ordering: undefined,
        isFailing: false,
        lastSeq: 0,
        lastMs: Number.NEGATIVE_INFINITY,
        recent: [],
      }
      sites.set(siteId, site)
      const isFirst = site.done === undefined
      merge(site, change)
      if (site.isSoft && !change.isSoft) {
        // A change that is known to be visible includes the waiting ones.
        clearTimeout(site.timer)
        site.timer = undefined
      }
      site.isSoft = change.isSoft && (isFirst || site.isSoft)
      site.done ??= Promise.withResolvers()
      plan(siteId, site)
    },
    settled(siteId) {
      const site = sites.get(siteId)
      if (!site || site.isFailing || isRestless(site)) return undefined
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

type Paths = 'all' | Iterable<string>

type Merged = Pick<OutdatedContent, 'shop' | 'extensions'> & { readonly pages: Paths; readonly files: Paths }

function merge(site: Site, { pages, files, shop, extensions }: Merged): void {
  site.pages = union(site.pages, pages)
  site.files = union(site.files, files)
  site.shop ||= shop
  site.extensions ||= extensions
}

function union(paths: 'all' | Set<string>, more: Paths): 'all' | Set<string> {
  if (paths === 'all' || more === 'all') return 'all'
  for (const path of more) paths.add(path)
  return paths.size > MOST_PATHS ? 'all' : paths
}

const listed = (paths: 'all' | Set<string>): 'all' | string[] => (paths === 'all' ? paths : [...paths])

/** @returns undefined when it is not a change; invalid paths count as everything */
function readChange(text: string): Said | undefined {
  let said: unknown
  try {
    said = JSON.parse(text)
  } catch {
    return undefined
  }
  const change = (said as { changed?: Readonly<Record<string, unknown>> } | null)?.changed
  if (typeof change !== 'object' || change === null) return undefined
  const pages = change.all === true ? 'all' : readPaths(change.paths)
  const files = change.files === true ? 'all' : readPaths(change.filePaths)
  const [shop, extensions] = [change.shop === true, change.extensions === true]
  const isUnseen = pages.length === 0 && files.length === 0
  // Nobody waits for a change that no page shows.
  return isUnseen && !extensions
    ? undefined
    : { pages, files, shop, extensions, isSoft: isUnseen || change.soft === true }
}

function readPaths(paths: unknown): 'all' | readonly string[] {
  if (!Array.isArray(paths)) return []
  return paths.length > MOST_PATHS || !paths.every(isPath) ? 'all' : paths
}

const isPath = (path: unknown): path is string => typeof path === 'string' && /^\/[\x21-\x7e]{0,2000}$/.test(path)
