/**
 * Runs WordPress' scheduled events without visitors. Checks every live site once a minute. If the database file of a
 * site is unchanged, that costs one stat of the file. After a change, Stead reads the events from the file, without PHP
 * (see `sqlite-pages.ts`). Due events run in the site's own PHP at background priority, one site at a time, the longest
 * overdue first. Nothing is stored: everything that is kept in memory can be read from the databases again.
 */
import { setImmediate as breathe, setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { MINUTE_MS } from '../../platform/durations.ts'
import type { PhpPool } from '../php/pool/pool.ts'
import { isHostsDoing, PhpBusy, PhpCrashed, PhpTimeout } from '../php/runtime.ts'
import type { BlogAddress, TaskInput, TaskOutput } from '../php/tasks.ts'
import type { HostedSite } from '../web-server/hosted-site.ts'
import type { EventSource } from './event-source.ts'
import { type NextEvents, runAt } from './next-events.ts'

export interface CronOptions {
  /** The sites of this host. */
  readonly sites: () => Promise<readonly HostedSite[]>
  /** Called right before a run: the site may have been disabled or deleted since the check. */
  readonly siteById: (siteId: number) => Promise<HostedSite | undefined>
  readonly php: Pick<PhpPool, 'runTask' | 'pidOf'>
  readonly events: EventSource
  /** Writes a sentence into the site's PHP log. */
  readonly say?: (site: HostedSite, text: string) => Promise<void>
  readonly log: { debug(facts: object, message: string): void; warn(facts: object, message: string): void }
  /** After this long, a site's run continues while the next site's starts. */
  readonly aloneMs?: number
  /** Milliseconds UTC; default: the system's. */
  readonly clock?: () => number
  /** Monotonic milliseconds, which nobody can set. Default: those of the process, or the given clock. */
  readonly monotonic?: () => number
}

export interface CronStats {
  readonly runs: number
  readonly failures: number
  /** Sites that were due at the last check. */
  readonly due: number
}

const EVERY_MS = MINUTE_MS
/** How long an event waits for free memory before Stead stops an idle site for it. */
const PATIENCE_MS = 15 * MINUTE_MS
/** The longest wait before Stead runs a site whose events it cannot read. */
const UNKNOWN_FOR_MS = 60 * MINUTE_MS
const LONGEST_PAUSE_MS = 6 * 60 * MINUTE_MS
/** How long a site's events may run while nobody waits for its PHP, for backups and imports. */
const LONG_MS = 10 * MINUTE_MS
/** After this long, a site's run continues beside those of other sites. */
const ALONE_MS = 20_000
/** The most runs that continue beside others. */
const MOST_BESIDE = 3
/** Attempts per run. Each event that ends the request takes one more. */
const MOST_ATTEMPTS = 20
/** The most hooks per site whose failures are counted. */
const MOST_FAILING = 100

/** Checks between two turns of the event loop, which take about a millisecond. */
const LOOKS_AT_ONCE = 25

/** Smaller corrections of the clock do not count as a jump. */
const STEP_MS = 1000

/** What is remembered of a site, in times of the system clock. All of it may be lost. */
interface Known {
  /** Mark of the database that `next` was read from. Undefined: read it again. */
  mark: string | undefined
  /** Undefined when unknown. */
  next: NextEvents | undefined
  /** What was next when the last run began. */
  ranFor: NextEvents | undefined
  /** When to run a site whose events are unknown. */
  askAt: number
  /** Start of the last attempted run. */
  ranAt: number
  /** The last run reported success, which the next check has not confirmed yet. */
  unproven: boolean
  failures: number
  notBefore: number
  /** Since when the site has been due without getting memory. */
  waitingSince: number | undefined
  /** Consecutive failures of its events, by hook. */
  readonly failing: Map<string, number>
  /** The event that its PHP is running. */
  event: string | undefined
}

const newlyKnown = (): Known => ({
  mark: undefined,
  next: undefined,
  ranFor: undefined,
  askAt: 0,
  ranAt: 0,
  unproven: false,
  failures: 0,
  notBefore: 0,
  waitingSince: undefined,
  failing: new Map(),
  event: undefined,
})

interface Outcome {
  readonly ran: number
  readonly failed: number
  readonly nextInSeconds: number | null
}

/** Updates the number of consecutive failures of each event. */
function count({ failing }: Known, { failed, passed }: Pick<TaskOutput<'cron'>, 'failed' | 'passed'>): void {
  for (const hook of passed) failing.delete(hook)
  for (const hook of failed)
    if (failing.has(hook) || failing.size < MOST_FAILING) failing.set(hook, (failing.get(hook) ?? 0) + 1)
}

/** Whether an event is to blame for the end of PHP. It is not when memory or CPU time ran out. */
const isEventsFault = (error: unknown): error is Error =>
  (error instanceof PhpTimeout || error instanceof PhpCrashed) && !isHostsDoing(error)

/**
 * Excludes safe mode, where an event whose plugin is not loaded would count as done, and sites that are being worked
 * on.
 */
const runsEvents = ({ state, isInSafeMode = false, isClosed = false }: HostedSite) =>
  state === 'live' && !isInSafeMode && !isClosed

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
  /** Sites that are running their events. */
  readonly #runs = new Map<number, Promise<void>>()
  #stopped = false

  constructor(options: CronOptions) {
    this.#options = options
    this.#clock = options.clock ?? Date.now
    this.#monotonic = options.monotonic ?? options.clock ?? (() => performance.now())
    this.#aheadMs = this.#clock() - this.#monotonic()
  }

  /** Checks every minute from now on. */
  start(delayMs = EVERY_MS): void {
    if (this.#stopped) return
    this.#timer = setTimeout(() => {
      const startedAt = performance.now()
      this.#passing = this.pass()
        .catch((error) => this.#options.log.warn({ err: error }, 'could not check for scheduled events'))
        .then(() => this.start(Math.max(0, EVERY_MS - (performance.now() - startedAt))))
    }, delayMs).unref()
  }

  /** Starts no more runs. Resolves when the current ones have ended, which stopping the pool causes. */
  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#timer)
    await this.#passing
    await Promise.all(this.#runs.values())
  }

  /** Records which event a site says it is running (`tasks/cron.php`). The text is not trusted. */
  hear(siteId: number, text: string): void {
    const known = this.#runs.has(siteId) ? this.#known.get(siteId) : undefined
    if (!known || !text.startsWith('{"event":') || text.length > 1000) return
    try {
      const { event } = JSON.parse(text) as { event: unknown }
      if (typeof event === 'string') known.event = event.slice(0, 200)
    } catch {
      // The site sent invalid JSON.
    }
  }

  stats(): CronStats {
    return { ...this.#counts }
  }

  /** Checks all sites once and runs what is due, for at most a minute. Then it is time for the next check. */
  async pass(): Promise<void> {
    const startedMs = this.#monotonic()
    this.#followClock()
    for (const siteId of await this.#dueSites(this.#clock())) {
      if (this.#stopped) return
      await this.#begin(siteId)
      if (this.#monotonic() - startedMs >= EVERY_MS) return
    }
  }

  /**
   * Runs the due events of a site. A run that takes long continues in the background, so that the next site does not
   * wait.
   */
  async #begin(siteId: number): Promise<void> {
    const run = this.#run(siteId).finally(() => this.#runs.delete(siteId))
    this.#runs.set(siteId, run)
    const over = new AbortController()
    const late = sleep(this.#options.aloneMs ?? ALONE_MS, undefined, { ref: false, signal: over.signal }).catch(
      () => {},
    )
    await Promise.race([run, late])
    over.abort()
    while (this.#runs.size > MOST_BESIDE) await Promise.race(this.#runs.values())
  }

  /** Moves everything remembered along when the clock is set: events follow the clock, but pauses the monotonic one. */
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

  /** @returns IDs of the sites with something to run, the longest overdue first */
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

  /**
   * Returns from when the site may run its events, or Infinity when it has none. A site that ran queues behind the
   * others.
   */
  async #dueSince(site: HostedSite): Promise<number> {
    if (this.#runs.has(site.siteId)) return Infinity
    const known = this.#knownOf(site.siteId)
    try {
      const at = await this.#nextRun(site, known)
      this.#judgeLastRun(site, known, at)
      if (at > this.#clock()) known.waitingSince = undefined
      return Math.max(at, known.ranAt, known.notBefore)
    } catch (error) {
      // The disk failed, or the host reached one of its limits.
      this.#fail(site, known, error)
      return Infinity
    }
  }

  async #nextRun({ siteId, siteDirectory }: HostedSite, known: Known): Promise<number> {
    const { events, php } = this.#options
    const active = php.pidOf(siteId) !== undefined
    const mark = events.mark(siteDirectory)
    if (mark === undefined) return Infinity
    if (mark !== known.mark) {
      const look = await events.read(siteDirectory)
      if (look.kind === 'busy' && active) return Infinity // a write rarely lasts until the next minute
      known.next = look.kind === 'read' ? look.next : undefined
      known.mark = look.kind === 'busy' || (look.kind === 'read' && !look.settled) ? undefined : mark
    }
    return known.next ? runAt(known.next, active) : known.askAt
  }

  /**
   * Counts a run as failed when its events are still there. Otherwise it would repeat every minute forever: the site's
   * WordPress sees other events than its database holds, or is broken. Plugins also plan events in the past, so that
   * they run as soon as possible. These are others.
   */
  #judgeLastRun(site: HostedSite, known: Known, nextAt: number): void {
    if (!known.unproven || nextAt === Infinity) return
    known.unproven = false
    const isSame = isDeepStrictEqual(known.next, known.ranFor)
    // WordPress counts in seconds.
    if (known.next && isSame && nextAt < known.ranAt - 1000)
      this.#fail(site, known, new Error('due events are still due'))
    else known.failures = 0
  }

  async #run(siteId: number): Promise<void> {
    const { log, siteById } = this.#options
    const site = await siteById(siteId)
    if (!site || !runsEvents(site) || this.#stopped) return
    const known = this.#knownOf(siteId)
    const startedMs = this.#monotonic()
    known.waitingSince ??= this.#clock()
    known.ranFor = known.next
    const makeRoom = this.#clock() - known.waitingSince >= PATIENCE_MS
    const ended = () => {
      this.#followClock()
      const tookMs = this.#monotonic() - startedMs
      return { tookMs, startedAt: this.#clock() - tookMs }
    }
    try {
      const { ran, failed, nextInSeconds } = await this.#runAll(site, known, makeRoom)
      const { tookMs, startedAt } = ended()
      known.ranAt = startedAt
      known.waitingSince = undefined
      known.unproven = true
      // The run changed the events, whatever the database looks like from outside.
      if (known.next !== undefined) known.mark = undefined
      known.askAt = this.#clock() + Math.min(Math.max((nextInSeconds ?? Infinity) * 1000, MINUTE_MS), UNKNOWN_FOR_MS)
      this.#counts.runs++
      log.debug({ site: siteId, ran, failed, tookMs }, 'scheduled events ran')
    } catch (error) {
      if (this.#stopped) return
      if (error instanceof PhpBusy) log.debug({ err: error, site: siteId }, 'scheduled events wait')
      else {
        known.ranAt = ended().startedAt
        this.#fail(site, known, error)
      }
    }
  }

  /**
   * Runs the due events of the main site and of each other site of its network. A site that cannot run does not stop
   * the others.
   */
  async #runAll(site: HostedSite, known: Known, makeRoom: boolean): Promise<Outcome> {
    const main = await this.#runBlog(site, known, { blog: null, makeRoom })
    const outcomes = [main]
    const faults: unknown[] = []
    for (const blog of main.blogs) {
      if (this.#stopped) break
      try {
        outcomes.push(await this.#runBlog(site, known, { blog, makeRoom }))
      } catch (error) {
        faults.push(error)
      }
    }
    if (faults.length > 0) throw faults[0]
    const nexts = outcomes.flatMap(({ nextInSeconds }) => nextInSeconds ?? [])
    return {
      ran: outcomes.reduce((sum, { ran }) => sum + ran, 0),
      failed: outcomes.reduce((sum, { failed }) => sum + failed, 0),
      nextInSeconds: nexts.length > 0 ? Math.min(...nexts) : null,
    }
  }

  /** Runs the due events of one site. Tries again after each event that ended PHP, so that the others still run. */
  async #runBlog(site: HostedSite, known: Known, how: { blog: BlogAddress | null; makeRoom: boolean }) {
    const { blog, makeRoom } = how
    const done = { ran: 0, failed: 0 }
    let blogs: readonly BlogAddress[] = []
    let cutOff: string | null = null
    for (let attempt = 1; ; attempt++) {
      known.event = undefined
      const failures = [...known.failing].map(([hook, times]) => ({ hook, times }))
      const options = { background: true, makeRoom, longMs: LONG_MS }
      try {
        const input: TaskInput<'cron'> = { blog, failures, cutOff }
        const result: TaskOutput<'cron'> = await this.#options.php.runTask(site, 'cron', input, options)
        count(known, result)
        cutOff = null
        done.ran += result.ran
        done.failed += result.failed.length
        if (result.blogs.length > 0) blogs = result.blogs
        const isOver = !result.isMore || attempt === MOST_ATTEMPTS || this.#stopped
        if (isOver) return { ...done, blogs, nextInSeconds: result.nextInSeconds }
      } catch (error) {
        const hook: string | undefined = known.event
        if (hook === undefined || !isEventsFault(error) || attempt === MOST_ATTEMPTS || this.#stopped) throw error
        count(known, { failed: [hook], passed: [] })
        done.failed++
        cutOff = hook
        await this.#tell(site, hook, error)
      }
    }
  }

  async #tell(site: HostedSite, hook: string, error: Error): Promise<void> {
    const { say, log } = this.#options
    log.debug({ err: error, site: site.siteId, hook }, 'a scheduled event was cut off')
    await say?.(site, `the scheduled event ${hook} was cut off: ${error.message}. It comes again later.`).catch(
      (fault) => log.warn({ err: fault, site: site.siteId }, 'the PHP log of a site could not be written'),
    )
  }

  /** Doubles the pause after each failure. Warns only of the first failure in a row. */
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
