import { hash } from 'node:crypto'
import { isbot } from 'isbot'
import { LRUCache } from 'lru-cache'
import { dayOf } from '../../platform/log-store/days.ts'
import { declareMemory } from '../../platform/process-memory.ts'
import { ownText } from '../own-memory.ts'
import type { AccessEntry } from './access-log.ts'
import type { CountedViews } from './page-views.store.ts'

/** The fields of an access entry that count. */
export type CountedEntry = Pick<
  AccessEntry,
  'siteId' | 'date' | 'http_user_agent' | 'request_type' | 'request_url' | 'status' | 'user_ip'
>

export interface PageViewOptions {
  /** Returns the salt of a day, the same for every process. */
  readonly salt: (day: number) => Promise<string>
  readonly store: (counted: readonly CountedViews[]) => Promise<void>
  readonly log: { warn(facts: object, message: string): void }
  readonly flushMs?: number
  /** The memory of different visitors until they are stored. Further ones count as views only. */
  readonly mostWaitingBytes?: number
}

export interface PageViewCounter {
  /** Counts it if it is a page view. */
  count(entry: CountedEntry, contentType: string): void
  /** Stores the counts so far. */
  flush(): Promise<void>
  close(): Promise<void>
}

/** Pages of the people who run the site. */
const ADMIN = /^\/+(?:[^/?#]+\/+)?(?:wp-admin(?:[/?#]|$)|wp-login\.php(?:[/?#]|$)|stead-database\/)/i

/** A longer part of a user agent does not distinguish visitors. */
const USER_AGENT_CHARACTERS = 512

/** A bot is recognized by its user agent, and there are few different ones. */
const bots = new LRUCache<string, boolean>({ maxSize: 1 << 20, sizeCalculation: (_is, name) => name.length + 150 })
declareMemory(() => bots.clear())

function isBot(whole: string): boolean {
  const userAgent = whole.length > USER_AGENT_CHARACTERS ? ownText(whole.slice(0, USER_AGENT_CHARACTERS)) : whole
  let known = bots.get(userAgent)
  if (known === undefined) {
    known = isbot(userAgent)
    bots.set(userAgent, known)
  }
  return known
}

/** Returns whether it is a GET answered 200 with an HTML page, not from a known bot, and not an admin page. */
export function isPageView(entry: CountedEntry, contentType: string): boolean {
  return (
    entry.status === 200 &&
    entry.request_type === 'GET' &&
    /^(?:text\/html|application\/xhtml\+xml)\b/i.test(contentType) &&
    !ADMIN.test(entry.request_url) &&
    !isBot(entry.http_user_agent)
  )
}

interface Waiting {
  readonly siteId: number
  readonly day: number
  views: number
  /** Address and user agent, until they are hashed. */
  visitors: Set<string>
}

/** The number of today's visitors that are known to be stored. Storing one again only costs time. */
const KNOWN_VISITORS = 100_000
/** The overhead of a visitor in a table, besides its text. */
const VISITOR_BYTES = 100

/** 96 bits, 16 characters. */
const hashOf = (text: string): string => hash('sha256', text, 'buffer').toString('base64url', 0, 12)

/** Counts page views in memory and stores them every second. */
export function createPageViews(options: PageViewOptions): PageViewCounter {
  const { salt, store, log, flushMs = 1000, mostWaitingBytes = 8 << 20 } = options
  const known = new LRUCache<string, true>({ max: KNOWN_VISITORS })
  const salts = new Map<number, string>()
  let waiting = new Map<string, Waiting>()
  let bytes = 0
  let timer: NodeJS.Timeout | undefined
  let flushing: Promise<void> | undefined
  let quietUntilMs = 0

  const saltOf = async (day: number): Promise<string> => {
    const found = salts.get(day) ?? (await salt(day))
    salts.set(day, found)
    if (salts.size > 3) salts.delete(Math.min(...salts.keys()))
    return found
  }
  const add = (key: string, siteId: number, day: number, views: number, people: Iterable<string>) => {
    let counted = waiting.get(key)
    if (!counted) {
      counted = { siteId, day, views: 0, visitors: new Set() }
      waiting.set(key, counted)
    }
    counted.views += views
    for (const visitor of people) {
      if (bytes >= mostWaitingBytes) break
      if (counted.visitors.has(visitor)) continue
      counted.visitors.add(visitor)
      bytes += visitor.length + VISITOR_BYTES
    }
  }
  const storeAll = async () => {
    const taken = waiting
    waiting = new Map()
    bytes = 0
    try {
      const hashes: string[] = []
      const counted: CountedViews[] = []
      for (const { siteId, day, views, visitors: raw } of taken.values()) {
        const daySalt = await saltOf(day)
        const hashed = [...raw].map((each) => hashOf(`${daySalt}${siteId}\n${each}`))
        const fresh = hashed.filter((each) => !known.has(each))
        hashes.push(...fresh)
        counted.push({ siteId, day, views, visitors: [...new Set(fresh)] })
      }
      await store(counted)
      for (const each of hashes) known.set(each, true)
    } catch (error) {
      for (const [key, { siteId, day, views, visitors: raw }] of taken) add(key, siteId, day, views, raw)
      if (performance.now() < quietUntilMs) return
      quietUntilMs = performance.now() + 10_000
      log.warn({ err: error, sites: waiting.size, bytes }, 'could not store page views')
    }
  }
  const flush = async () => {
    clearTimeout(timer)
    timer = undefined
    await flushing
    if (waiting.size === 0) return
    flushing = storeAll().finally(() => {
      flushing = undefined
      if (waiting.size > 0) later()
    })
    await flushing
  }
  const later = () => {
    timer ??= setTimeout(flush, flushMs)
  }
  return {
    count(entry, contentType) {
      const { siteId } = entry
      if (siteId === undefined || !isPageView(entry, contentType)) return
      const day = dayOf(Date.parse(entry.date))
      add(`${siteId} ${day}`, siteId, day, 1, [
        `${entry.user_ip}\n${entry.http_user_agent.slice(0, USER_AGENT_CHARACTERS)}`,
      ])
      if (!flushing) later()
    },
    flush,
    async close() {
      await flush()
      clearTimeout(timer)
    },
  }
}
