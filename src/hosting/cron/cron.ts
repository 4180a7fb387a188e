/**
 * WordPress' scheduled events, run without visitors.
 *
 * Once a minute every live site is looked at. A site whose database file is as it was costs one look at the file's times;
 * after a change the events are read from the file, without PHP (see `sqlite-pages.ts`). What is due runs in the site's own PHP,
 * one site at a time, the longest due first, behind visitors. Nothing is stored: what this keeps in memory is in the databases.
 */
import { setImmediate as breathe } from 'node:timers/promises'
import type { PhpPool } from '../php/pool.ts'
import { PhpBusy } from '../php/runtime.ts'
import type { HostedSite } from '../web-server/web-server.ts'
import type { EventSource } from './event-source.ts'
import { type NextEvents, runAt } from './next-events.ts'

export interface CronOptions {
  /** The sites of this host. */
  readonly sites: () => Promise<readonly HostedSite[]>
  /** Asked right before a run: the site may have been disabled or deleted since the look. */
  readonly siteById: (siteId: number) => Promise<HostedSite | undefined>
  readonly php: Pick<PhpPool, 'runTask' | 'pidOf'>
  readonly events: EventSource
  readonly log: { debug(facts: object, message: string): void; warn(facts: object, message: string): void }
  /** Milliseconds UTC; default: the system's. */
  readonly clock?: () => number
  /** Milliseconds that nobody sets; default: the process', or those of a given clock. */
  readonly monotonic?: () => number
}

export interface CronStats {
  readonly runs: number
  readonly failures: number
  /** Sites that were due at the last look. */
  readonly due: number
}

const MINUTE_MS = 60_000
const EVERY_MS = MINUTE_MS
/** So long an event waits for free memory before a site that is idle has to give way. */
const PATIENCE_MS = 15 * MINUTE_MS
/** A site whose events cannot be read is asked by running it, and at the latest after this. */
const UNKNOWN_FOR_MS = 60 * MINUTE_MS
const LONGEST_PAUSE_MS = 6 * 60 * MINUTE_MS
/** Looks between two turns of the event loop: about a millisecond. */
const LOOKS_AT_ONCE = 25

/** So far the clock may be corrected without its being a jump. */
const STEP_MS = 1000

/** What is remembered of a site, in times of the clock as it is; all of it may be lost. */
interface Known {
  /** The database that `next` was read from; undefined: to be read again. */
  mark: string | undefined
  /** Undefined: unknown. */
  next: NextEvents | undefined
  /** For a site whose events are unknown: when it is to be run. */
  askAt: number
  /** Start of the last run that was tried. */
  ranAt: number
  /** The last run said that all is well; the next look shows whether it is. */
  unproven: boolean
  failures: number
  notBefore: number
  /** Since when it has been due without getting memory. */
  waitingSince: number | undefined
}

const newlyKnown = (): Known => ({
  mark: undefined,
  next: undefined,
  askAt: 0,
  ranAt: 0,
  unproven: false,
  failures: 0,
  notBefore: 0,
  waitingSince: undefined,
})

/** Not in safe mode: an event whose plugin is not loaded would count as done. Not while it is being worked on. */
const runsEvents = ({ state, inSafeMode = false, isClosed = false }: HostedSite) =>
  state === 'live' && !inSafeMode && !isClosed

/** The scheduled events of one host's sites. */
export class Cron {
  readonly #options: CronOptions
  readonly #clock: () => number
  readonly #monotonic: () => number
  /** How far the clock was ahead of the monotonic one. */
  #aheadMs: number
  readonly #known = new Map<number, Known>()
  readonly #counts = { runs: 0, failures: 0, due: 0 }
  #timer: NodeJS.Timeout | undefined
  #passing: Promise<void> = Promise.resolve()
  #stopped = false

  constructor(options: CronOptions) {
    this.#options = options
    this.#clock = options.clock ?? Date.now
    this.#monotonic = options.monotonic ?? options.clock ?? (() => performance.now())
    this.#aheadMs = this.#clock() - this.#monotonic()
  }

  /** Looks every minute from now on. */
  start(delayMs = EVERY_MS): void {
    if (this.#stopped) return
    this.#timer = setTimeout(() => {
      const startedAt = performance.now()
      this.#passing = this.pass()
        .catch((error) => this.#options.log.warn({ err: error }, 'scheduled events could not be looked for'))
        .then(() => this.start(Math.max(0, EVERY_MS - (performance.now() - startedAt))))
    }, delayMs).unref()
  }

  /** No run begins any more. Resolves when the one under way has ended; stopping the pool ends it. */
  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#timer)
    await this.#passing
  }

  stats(): CronStats {
    return { ...this.#counts }
  }

  /** Looks at all sites once and runs what is due, for a minute at most: then it is time to look again. */
  async pass(): Promise<void> {
    const startedMs = this.#monotonic()
    this.#followClock()
    for (const siteId of await this.#dueSites(this.#clock())) {
      if (this.#stopped) return
      await this.#run(siteId)
      if (this.#monotonic() - startedMs >= EVERY_MS) return
    }
  }

  /** Events happen by the clock, pauses last by the monotonic one: when the clock is set, what is remembered moves with it. */
  #followClock(): void {
    const jumpMs = this.#clock() - this.#monotonic() - this.#aheadMs
    if (Math.abs(jumpMs) <= STEP_MS) return
    this.#aheadMs += jumpMs
    for (const known of this.#known.values()) {
      known.askAt += jumpMs
      known.ranAt += jumpMs
      known.notBefore += jumpMs
      if (known.waitingSince !== undefined) known.waitingSince += jumpMs
    }
  }

  /** @returns ids of the sites with something to run, the longest due first */
  async #dueSites(now: number): Promise<number[]> {
    const sites = (await this.#options.sites()).filter(runsEvents)
    const due: { siteId: number; since: number }[] = []
    for (const [index, site] of sites.entries()) {
      if (index % LOOKS_AT_ONCE === 0) await breathe()
      if (this.#stopped) return []
      const since = await this.#dueSince(site)
      if (since <= now) due.push({ siteId: site.siteId, since })
    }
    const ids = new Set(sites.map(({ siteId }) => siteId))
    for (const siteId of this.#known.keys()) if (!ids.has(siteId)) this.#known.delete(siteId)
    this.#counts.due = due.length
    return due.sort((a, b) => a.since - b.since).map(({ siteId }) => siteId)
  }

  /** From when on the site may run its events; Infinity: there is nothing to run. A site that ran goes behind the others. */
  async #dueSince(site: HostedSite): Promise<number> {
    const known = this.#knownOf(site.siteId)
    try {
      const at = await this.#nextRun(site, known)
      this.#judgeLastRun(site, known, at)
      if (at > this.#clock()) known.waitingSince = undefined
      return Math.max(at, known.ranAt, known.notBefore)
    } catch (error) {
      // the disk, or the host's own limits
      this.#fail(site, known, error)
      return Infinity
    }
  }

  async #nextRun({ siteId, homePath }: HostedSite, known: Known): Promise<number> {
    const { events, php } = this.#options
    const active = php.pidOf(siteId) !== undefined
    const mark = events.mark(homePath)
    if (mark === undefined) return Infinity
    if (mark !== known.mark) {
      const look = await events.read(homePath)
      if (look.kind === 'busy' && active) return Infinity // a write is seldom under way a minute later
      known.next = look.kind === 'read' ? look.next : undefined
      known.mark = look.kind === 'busy' || (look.kind === 'read' && !look.settled) ? undefined : mark
    }
    return known.next ? runAt(known.next, active) : known.askAt
  }

  /**
   * A run after which its events are still there would be repeated every minute for ever: the site's WordPress sees other
   * events than its database holds, or is not what it should be.
   */
  #judgeLastRun(site: HostedSite, known: Known, nextAt: number): void {
    if (!known.unproven || nextAt === Infinity) return
    known.unproven = false
    // WordPress counts in seconds
    if (known.next && nextAt < known.ranAt - 1000) this.#fail(site, known, new Error('what was due is still due'))
    else known.failures = 0
  }

  async #run(siteId: number): Promise<void> {
    const { php, log, siteById } = this.#options
    const site = await siteById(siteId)
    if (!site || !runsEvents(site) || this.#stopped) return
    const known = this.#knownOf(siteId)
    const startedMs = this.#monotonic()
    known.waitingSince ??= this.#clock()
    const makeRoom = this.#clock() - known.waitingSince >= PATIENCE_MS
    const ended = () => {
      this.#followClock()
      const tookMs = this.#monotonic() - startedMs
      return { tookMs, startedAt: this.#clock() - tookMs }
    }
    try {
      const { ran, failed, nextInSeconds } = await php.runTask(site, 'cron', {}, { background: true, makeRoom })
      const { tookMs, startedAt } = ended()
      known.ranAt = startedAt
      known.waitingSince = undefined
      known.unproven = true
      // its own run has changed them, whatever is seen of the database from outside
      if (known.next !== undefined) known.mark = undefined
      known.askAt = this.#clock() + Math.min(Math.max((nextInSeconds ?? Infinity) * 1000, MINUTE_MS), UNKNOWN_FOR_MS)
      this.#counts.runs++
      log.debug({ site: siteId, ran, failed: failed.length, tookMs }, 'scheduled events ran')
    } catch (error) {
      if (this.#stopped) return
      if (error instanceof PhpBusy) log.debug({ err: error, site: siteId }, 'scheduled events wait')
      else {
        known.ranAt = ended().startedAt
        this.#fail(site, known, error)
      }
    }
  }

  /** The next attempt comes later each time; only the first failure in a row is told. */
  #fail({ siteId }: HostedSite, known: Known, error: unknown): void {
    const pauseMs = Math.min(MINUTE_MS * 2 ** known.failures, LONGEST_PAUSE_MS)
    const facts = { err: error, site: siteId, pauseMs }
    if (known.failures === 0) this.#options.log.warn(facts, 'scheduled events failed')
    else this.#options.log.debug(facts, 'scheduled events failed again')
    known.failures++
    known.notBefore = this.#clock() + pauseMs
    this.#counts.failures++
  }

  #knownOf(siteId: number): Known {
    let known = this.#known.get(siteId)
    if (!known) {
      known = newlyKnown()
      this.#known.set(siteId, known)
    }
    return known
  }
}
