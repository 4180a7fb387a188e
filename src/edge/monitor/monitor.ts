import type { Route, Routes } from '../routing/route.ts'
import type { MonitoringStateRow, UptimeDayRow } from '../tables.ts'
import type { AskedPage, PageAsker } from './ask-page.ts'
import { findingOf, type HostAnswer, isUp, type SiteFinding } from './finding.ts'
import type { SiteToAsk } from './monitor.store.ts'
import {
  faultOnTheWay,
  PAGE_EVERY,
  type Said,
  spreadOf,
  WAKE_EVERY_MS,
  type WatchedSite,
  watchedSite,
  weigh,
} from './watched-site.ts'

/** What the monitor needs of an edge and its records. */
export interface MonitorOptions {
  readonly routes: Pick<Routes, 'find' | 'peek'>
  readonly pages: PageAsker
  /** Returns the address of a site for visitors. */
  readonly addressOf: (route: Route) => Pick<AskedPage, 'scheme' | 'host'>
  /** Returns why the certificate of a name is refused. Undefined without TLS. */
  readonly askTls?: ((hostName: string) => Promise<string | undefined>) | undefined
  /** Returns why a name does not lead here. */
  readonly askDns: (hostName: string) => Promise<string | undefined>
  /** Returns all sites, or undefined if they are the same as before. */
  readonly loadSites: () => Promise<readonly SiteToAsk[] | undefined>
  /** Returns what this edge has stored before. */
  readonly loadStates: () => Promise<ReadonlyMap<number, MonitoringStateRow>>
  readonly storeStates: (rows: readonly Omit<MonitoringStateRow, 'is_new' | 'edge'>[]) => Promise<void>
  /** Stores counts, and that this edge asks. */
  readonly storeCounts: (rows: readonly Omit<UptimeDayRow, 'day'>[]) => Promise<void>
  readonly log: { warn(facts: object, message: string): void }
  /** Milliseconds UTC. */
  readonly now?: () => number
  /** Monotonic milliseconds. */
  readonly monotonic?: () => number
}

/** Further sites, those with the highest ids, are not asked. As many routes stay in memory. */
const MOST_SITES = 50_000
const SLOTS = 60
/** A question is repeated after this time if its answer is news. */
const CONFIRM_MS = 10_000
/** How many questions wait for their answers. Others wait for them. */
const AT_ONCE = 256
/** Look-ups of names and handshakes in a minute, about: a handshake costs twenty times as much as a light question. */
const FULL_A_MINUTE = 125
/** After a longer time between two ticks, the machine stood still. Earlier questions then tell nothing. */
const STILL_MS = 3_000
const LIST_EVERY = 60
const STORE_EVERY = 2
const COUNTS_EVERY = 300
const REPORT_EVERY = 60

/**
 * Asks all sites once a minute, spread over it by a hash, as visitors would. It never catches up: a missed question
 * leaves no trace, because unknown is not down.
 */
export class SiteMonitor {
  readonly #options: MonitorOptions
  readonly #now: () => number
  readonly #monotonic: () => number
  #sites = new Map<number, WatchedSite>()
  #slots: WatchedSite[][] = Array.from({ length: SLOTS }, () => [])
  /** What this edge had stored. Read once. */
  #before: ReadonlyMap<number, MonitoringStateRow> | undefined
  readonly #queue = new Set<WatchedSite>()
  readonly #doubtful = new Set<WatchedSite>()
  readonly #changed = new Set<WatchedSite>()
  #asking = 0
  /** Increased when the machine stood still. */
  #epoch = 0
  #lastTickMs: number
  #seconds = 0
  #work: Promise<void> = Promise.resolve()

  constructor(options: MonitorOptions) {
    this.#options = options
    this.#now = options.now ?? Date.now
    this.#monotonic = options.monotonic ?? (() => performance.now())
    this.#lastTickMs = this.#monotonic()
  }

  /** Number of sites. */
  get size(): number {
    return this.#sites.size
  }

  /** Asks the sites of the second that has begun. Call it once a second. Resolves when records are up to date. */
  tick(): Promise<void> {
    const nowMs = this.#monotonic()
    if (nowMs - this.#lastTickMs > STILL_MS) this.#epoch++
    this.#lastTickMs = nowMs
    this.#options.pages.look()
    for (const site of this.#slots[this.#seconds % SLOTS] as WatchedSite[]) this.#enqueue(site)
    for (const site of this.#doubtful)
      if ((site.doubt?.when.ms ?? 0) <= nowMs - CONFIRM_MS) {
        this.#doubtful.delete(site)
        this.#enqueue(site)
      }
    this.#pump()
    const second = this.#seconds++
    this.#work = this.#work.then(() => this.#keepRecords(second)).catch((error) => this.#warn(error))
    return this.#work
  }

  /** Stores what is not stored yet. */
  async stop(): Promise<void> {
    await this.#work
    await this.#storeStates()
    await this.#storeCounts()
  }

  async #keepRecords(second: number): Promise<void> {
    if (second % LIST_EVERY === 0) await this.#load()
    if (second % STORE_EVERY === 0) await this.#storeStates()
    if (second % COUNTS_EVERY === COUNTS_EVERY - 1) await this.#storeCounts()
    else if (second % REPORT_EVERY === 0) await this.#options.storeCounts([])
  }

  #warn(error: unknown): void {
    this.#options.log.warn({ err: error }, 'could not read or store the monitoring of sites')
  }

  async #load(): Promise<void> {
    const listed = await this.#options.loadSites()
    if (!listed) return
    this.#before ??= await this.#options.loadStates()
    const sites = new Map<number, WatchedSite>()
    for (const each of listed.slice(0, MOST_SITES)) {
      const known = this.#sites.get(each.siteId)
      const same = known?.hostName === each.hostName
      const site = same ? known : watchedSite(each, this.#before.get(each.siteId), this.#monotonic())
      // Not all in the first minute.
      if (site !== known) site.fullIn = spreadOf(each.siteId) % Math.ceil(listed.length / FULL_A_MINUTE)
      sites.set(each.siteId, site)
    }
    if (listed.length > MOST_SITES)
      this.#options.log.warn({ sites: listed.length, asked: MOST_SITES }, 'too many sites to ask all of them')
    for (const gone of this.#sites.values())
      if (sites.get(gone.siteId) !== gone)
        for (const set of [this.#queue, this.#doubtful, this.#changed]) set.delete(gone)
    this.#before = new Map()
    this.#sites = sites
    this.#slots = Array.from({ length: SLOTS }, () => [])
    for (const site of sites.values()) this.#slots[spreadOf(site.siteId) % SLOTS]?.push(site)
  }

  #enqueue(site: WatchedSite): void {
    if (!site.isAsking) this.#queue.add(site)
  }

  #pump(): void {
    for (const site of this.#queue) {
      if (this.#asking >= AT_ONCE) return
      this.#queue.delete(site)
      this.#asking++
      site.isAsking = true
      void this.#ask(site, this.#epoch)
        .catch(() => {})
        .finally(() => {
          site.isAsking = false
          this.#asking--
          this.#pump()
        })
    }
  }

  async #ask(site: WatchedSite, epoch: number): Promise<void> {
    const route = await this.#routeOf(site)
    if (!route) return
    if (isPaused(route)) return this.#say(site, { ...isUp, state: 'paused', since: this.#now() })
    const finding = await this.#askAll(site, route)
    const after = await this.#routeOf(site)
    // What was found while the machine stood still, or an operation began, says nothing.
    if (!finding || epoch !== this.#epoch || !after || isPaused(after)) return
    if (finding === 'never led here') return this.#say(site, { ...notLed, since: this.#now() })
    const news = weigh(site, finding, { at: this.#now(), ms: this.#monotonic() })
    if (news === 'doubt') this.#doubtful.add(site)
    else if (news) this.#say(site, news)
  }

  /** @returns undefined when the database is away and the route is not known, or when it is another site's */
  async #routeOf({ siteId, hostName }: WatchedSite): Promise<Route | undefined> {
    const { routes } = this.#options
    const found = await (routes.peek ?? routes.find)(hostName)
    return found?.siteId === siteId ? found : undefined
  }

  /** @returns undefined for a site that sleeps, and was not up before */
  async #askAll(site: WatchedSite, route: Route): Promise<SiteFinding | 'never led here' | undefined> {
    const { pages, addressOf, askTls, askDns } = this.#options
    const isFull = this.#isFull(site)
    const look = this.#lookFor(site)
    const address = addressOf(route)
    const [answer, tls, dns] = await Promise.all([
      pages.ask({ ...address, look }),
      isFull && address.scheme === 'https' ? askTls?.(site.hostName) : undefined,
      isFull && site.isDomain ? askDns(site.hostName) : undefined,
    ])
    if (isFull && dns === undefined) site.hasLed = true
    const page = this.#pageFinding(site, answer, `${address.scheme}://${address.host}/`, look)
    return page && faultOnTheWay(dns, tls, page, site.hasLed)
  }

  #pageFinding(
    site: WatchedSite,
    answer: HostAnswer,
    address: string,
    look: AskedPage['look'],
  ): SiteFinding | undefined {
    const isAsleep = look === 'page' && 'status' in answer && answer.status === 204
    if (look !== 'light' && !isAsleep) site.pageAtMs = this.#monotonic()
    if (isAsleep && isBad(site)) return undefined
    return findingOf(answer, address)
  }

  /** Looks at a name or certificate with a fault each time, to notice when the fault ends. */
  #isFull(site: WatchedSite): boolean {
    const reason = site.doubt?.finding.reason ?? site.said?.reason
    if (reason === 'dns' || reason === 'tls') return true
    if (site.fullIn-- > 0) return false
    site.fullIn = Math.ceil(this.#sites.size / FULL_A_MINUTE) - 1
    return true
  }

  #lookFor(site: WatchedSite): AskedPage['look'] {
    const isTurn = ++site.turn % PAGE_EVERY === 0
    if (isTroubled(site)) return isTurn ? 'wake' : 'page'
    if (!isTurn) return 'light'
    return this.#monotonic() - site.pageAtMs > WAKE_EVERY_MS ? 'wake' : 'page'
  }

  #say(site: WatchedSite, said: Said): void {
    if (site.said?.state === said.state && site.said.detail === said.detail) return
    site.said = said
    site.doubt = undefined
    if (this.#sites.get(site.siteId) === site) this.#changed.add(site)
  }

  async #storeStates(): Promise<void> {
    const sites = [...this.#changed]
    this.#changed.clear()
    try {
      await this.#options.storeStates(
        sites.flatMap(({ siteId, hostName, said }) =>
          said ? [{ site_id: siteId, host_name: hostName, ...said }] : [],
        ),
      )
    } catch (error) {
      for (const site of sites) if (this.#sites.get(site.siteId) === site) this.#changed.add(site)
      throw error
    }
  }

  async #storeCounts(): Promise<void> {
    const taken = [...this.#sites.values()]
      .filter(({ asked }) => asked > 0)
      .map((site) => ({ site, row: { site_id: site.siteId, asked: site.asked, slow: site.slow, failed: site.failed } }))
    await this.#options.storeCounts(taken.map(({ row }) => row))
    for (const { site, row } of taken) {
      site.asked -= row.asked
      site.slow -= row.slow
      site.failed -= row.failed
    }
  }
}

const notLed = { state: 'unknown', reason: 'dns', detail: 'The domain has not led to this installation yet' } as const

/** While a site is down or slow, or may be, each question asks for what showed it. */
const isTroubled = (site: WatchedSite): boolean => site.doubt !== undefined || isBad(site)

const isBad = ({ said }: WatchedSite): boolean => said?.state === 'down' || said?.state === 'slow'

/** Returns whether the site's owner, the operator, or an operation keeps visitors out. */
const isPaused = (route: Route): boolean =>
  route.state !== 'live' ||
  route.isSuspended === true ||
  route.isInMaintenance === true ||
  // Also while it moves to another host, and only stored pages are served.
  route.isClosed === true
