import { LRUCache } from 'lru-cache'
import { DAY_MS, MINUTE_MS } from '../../../platform/durations.ts'
import { createFloodLimiter, type FloodLimiter } from '../../flood-limiter.ts'
import { cookieName } from '../decide/request-facts.ts'

/** Learns from visits which cookies change the answers of a site. */
export interface KnownCookies {
  /** Returns whether one of the cookies changes answers of the site. */
  counts(siteId: number, pairs: readonly string[]): boolean
  /** Returns the cookies to compare: their name is new, or was not compared for a while. */
  due(visit: CookieVisit): string[]
  /** Returns whether one more visit may go to the host to learn about its cookies. */
  allow(visit: CookieVisit): boolean
  /** Records that a page is the same with these cookies, or that it tells nothing about them. */
  learnSame(visit: CookieVisit): void
  /** Records that a page changes with these cookies. */
  learnDifferent(siteId: number, pairs: readonly string[]): void
  /** Returns how much a page differs from itself without any cookie. */
  noiseOf(key: string): number
  learnNoise(key: string, noise: number): void
}

/** The cookies that a visitor sends for a page. */
export interface CookieVisit {
  readonly siteId: number
  /** Each as `name=value`. */
  readonly pairs: readonly string[]
  readonly path: string
  /** The epoch of the site's pages, which increases when all of them are purged. */
  readonly epoch: number
  /** See `addressKey`. */
  readonly client: string
}

/** What is known about one name. */
interface Row {
  /** The client that introduced the name. */
  readonly by: string
  /** Values and pages that made no difference. */
  readonly marks: number[]
  /** From then on the next visit is compared, whatever its value and page. */
  dueAtMs: number
  epoch: number
  seenAtMs: number
  /** Until then the name is known to change answers. */
  changesUntilMs: number
}

interface SiteCookies {
  readonly names: Map<string, Row>
  readonly mayLearn: FloodLimiter
}

/** Each new value or page is compared, until this many made no difference. */
const MOST_MARKS = 8
const AGAIN_MS = 30_000
/** After that the name is unknown again, because sites change. */
const CHANGES_MS = DAY_MS
/** A name that was seen within this time keeps its place, so that invented names cannot replace it. */
const KEPT_MS = 10 * MINUTE_MS
const MOST_NAMES = 48
const MOST_NAMES_OF_CLIENT = 8
const MOST_SITES = 1_000
const MOST_CLIENTS = 10_000
const MOST_PAGES = 10_000
/** Visits that go to the host to learn, for each site and each client of it: burst, and rate per second. */
const BY_SITE = [20, 2] as const
const BY_CLIENT = [8, 1 / 5] as const

/** Creates the tables: 1,000 sites with 48 names each, 10,000 clients, 10,000 pages. */
export function createKnownCookies(): KnownCookies {
  const sites = new LRUCache<number, SiteCookies>({ max: MOST_SITES })
  const clients = new LRUCache<string, FloodLimiter>({ max: MOST_CLIENTS })
  const pages = new LRUCache<string, number>({ max: MOST_PAGES, ttl: DAY_MS })
  const siteOf = (siteId: number): SiteCookies => {
    const known = sites.get(siteId)
    if (known) return known
    const site = { names: new Map(), mayLearn: createFloodLimiter(...BY_SITE) }
    sites.set(siteId, site)
    return site
  }
  return {
    counts(siteId, pairs) {
      const names = sites.get(siteId)?.names
      if (!names) return false
      const nowMs = performance.now()
      return pairs.some((pair) => {
        const row = names.get(cookieName(pair))
        if (!row || row.changesUntilMs <= nowMs) return false
        row.seenAtMs = nowMs
        return true
      })
    },
    due(visit) {
      const { names } = siteOf(visit.siteId)
      const nowMs = performance.now()
      return visit.pairs.filter((pair) => isDue(names, pair, visit, nowMs))
    },
    allow({ siteId, client }) {
      const key = `${siteId} ${client}`
      const own = clients.get(key) ?? createFloodLimiter(...BY_CLIENT)
      clients.set(key, own)
      return own() && siteOf(siteId).mayLearn()
    },
    learnSame({ siteId, pairs, path, epoch }) {
      const { names } = siteOf(siteId)
      for (const pair of pairs) {
        const row = names.get(cookieName(pair))
        if (!row) continue
        const mark = markOf(pair, path)
        if (row.marks.length < MOST_MARKS && !row.marks.includes(mark)) row.marks.push(mark)
        row.dueAtMs = performance.now() + AGAIN_MS
        row.epoch = epoch
      }
    },
    learnDifferent(siteId, pairs) {
      const { names } = siteOf(siteId)
      for (const pair of pairs) {
        const row = names.get(cookieName(pair))
        if (!row) continue
        row.marks.length = 0
        row.changesUntilMs = performance.now() + CHANGES_MS
      }
    },
    noiseOf: (key) => pages.get(key) ?? 0,
    learnNoise(key, noise) {
      if (noise > (pages.get(key) ?? 0)) pages.set(key, noise)
    },
  }
}

function isDue(names: Map<string, Row>, pair: string, visit: CookieVisit, nowMs: number): boolean {
  const row = names.get(cookieName(pair)) ?? addRow(names, cookieName(pair), visit, nowMs)
  if (!row) return false
  row.seenAtMs = nowMs
  if (row.dueAtMs <= nowMs || row.epoch !== visit.epoch) return true
  return row.marks.length < MOST_MARKS && !row.marks.includes(markOf(pair, visit.path))
}

/** @returns undefined when the site or the client already has too many names */
function addRow(names: Map<string, Row>, name: string, { client, epoch }: CookieVisit, nowMs: number): Row | undefined {
  let ofClient = 0
  for (const [other, row] of names) {
    if (names.size >= MOST_NAMES && row.seenAtMs + KEPT_MS <= nowMs) names.delete(other)
    else if (row.by === client) ofClient++
  }
  if (names.size >= MOST_NAMES || ofClient >= MOST_NAMES_OF_CLIENT) return undefined
  const row = { by: client, marks: [], dueAtMs: nowMs, epoch, seenAtMs: nowMs, changesUntilMs: 0 }
  names.set(name, row)
  return row
}

/** FNV-1a. A collision of two visits costs one comparison. */
function markOf(pair: string, path: string): number {
  let mark = 0x811c9dc5
  for (const text of [pair, '\n', path])
    for (let i = 0; i < text.length; i++) mark = Math.imul(mark ^ text.charCodeAt(i), 0x01000193)
  return mark
}
