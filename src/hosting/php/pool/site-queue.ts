import { setTimeout as sleep } from 'node:timers/promises'
import {
  PhpAbandoned,
  PhpBusy,
  PhpCrashed,
  PhpDisplaced,
  PhpNotReached,
  type PhpProcess,
  type PhpSite,
  PhpTimeout,
  PhpWaitsForItself,
} from '../runtime.ts'
import { PhpTaskError } from '../task-error.ts'
import { RecentCount, RecentUse } from './recent-use.ts'

export interface SiteQueueLimits {
  /** The most waiting jobs of one site. */
  readonly queueLength: number
  readonly idleMs: number
  /** How long a process that was started for an announced visitor waits. Default: 10 s. */
  readonly wokenMs?: number
  /** A process that is larger than this between two jobs is replaced. At twice this size it is ended immediately. */
  readonly processMemoryBytes: number
}

/** Work that needs a site's PHP for a while. */
export interface Job {
  /** Resolves when PHP is free again. */
  run(process: PhpProcess): Promise<void>
  fail(error: Error): void
  /** Nobody waits for it. It keeps no process alive, and a process that starts for it has the lowest priority. */
  readonly background?: boolean
  /** Default: true. With false, it fails with PhpBusy instead of taking memory from others. */
  readonly makeRoom?: boolean
  /** It only starts PHP for an announced visitor. */
  readonly wakes?: boolean
  /** A visitor waits for it. A site with many visits stays ready for the next. */
  readonly isVisit?: boolean
  /** The monitoring asks for a page. It keeps no process alive either. */
  readonly isLook?: boolean | undefined
  /** It may be interrupted when it takes long and others wait. */
  readonly interruptible?: boolean
  /** Default: false. With true, it may run together with others of its kind if the process supports that. */
  readonly isShared?: boolean
  /** One of the site's running requests waits for it. */
  readonly isOwn?: boolean
}

/** A running job. */
interface Running {
  readonly job: Job
  readonly since: number
}

/** Work that needs a site's PHP to be idle for a while. */
interface Pause {
  /** Must never reject. */
  readonly pause: () => Promise<void>
  readonly background: true
}

/** Options for starting a process. */
export interface StartOptions {
  readonly lowPriority: boolean
  readonly makeRoom: boolean
}

/** What a queue needs from the pool. */
export interface SiteQueueOwner {
  readonly limits: SiteQueueLimits
  /** Starts a process when there is enough memory. @throws PhpBusy when there is not */
  start(lane: SiteQueue, options: StartOptions): Promise<PhpProcess>
  /** Called when the queue has become idle or lost its process. */
  freed(): void
  /** Whether a waiting site has used no more memory time than this one. */
  wanted(lane: SiteQueue): boolean
  /** Whether it has recently used less than a certain part of its fair share. */
  isModest(lane: SiteQueue): boolean
  /** Whether it keeps its process while idle, as one of the most visited sites. */
  staysReady(lane: SiteQueue): boolean
  /**
   * Takes a place for another concurrent job of the site. {@link giveBack} returns it.
   * @returns false when none is free
   */
  takePlace(): boolean
  giveBack(): void
  /** Handles a message of the site. */
  note(text: string): void
  /** Answers a question of the site. */
  ask(text: string): Promise<string>
  count(event: 'crash' | 'replace' | 'timeout'): void
}

const freeCrashes = 2
// A crash counts as this much use, because the next start is expensive.
const crashUseMs = 5000
const longestPauseMs = 30_000
// A start costs 0.4 s and a first page 1 to 2 s, so sites take turns in memory no faster than this.
const leastTurnMs = 5000
const lookAtUseMs = 1000
/** A site that has visitors by day is still known the next morning. */
const visitsHalfLifeMs = 43_200_000
/** Extra places for requests that a site sends to itself, because all running ones may wait for one. */
const ownPlaces = 1
/** After this time, exclusive work no longer waits for requests that the site sends to itself. */
const ownPatienceMs = 10_000

/**
 * One site's queue and, while there is work, its process. First come, first served. Visitors' requests run in parallel
 * as far as the process can. Everything else runs exclusively: earlier jobs end first, and later ones wait.
 */
export class SiteQueue {
  /** Set by the first job that needs PHP. */
  site: PhpSite | undefined
  process: PhpProcess | undefined
  /** End of the last job that someone waited for. */
  lastUsed = performance.now()
  /** How long the site's PHP has been busy recently. */
  readonly use = new RecentUse()
  /** How often visitors have needed the site's PHP recently. */
  readonly visits = new RecentCount(visitsHalfLifeMs)
  readonly #owner: SiteQueueOwner
  readonly #queue: (Job | Pause)[] = []
  #processSite: PhpSite | undefined
  #startedAt = 0
  /** Whether its process has the lowest priority. */
  #isLow = false
  /** How long its process has waited for CPU, as far as it was subtracted from its use. */
  #waitedMs = 0
  #discountedAt = -Infinity
  #isDiscounting = false
  /** Jobs whose process had ended before they began. */
  readonly #askedAgain = new WeakSet<Job>()
  #stopping: Promise<void> | undefined
  readonly #running = new Set<Running>()
  /** Whether something uses the queue exclusively: a job, a pause, or a process that starts or ends. */
  #isAlone = false
  /** Since when exclusive work has been waiting for running jobs. */
  #aloneSince = Infinity
  #weighing: NodeJS.Timeout | undefined
  /** Places of the host that are taken, for all running jobs except one. */
  #placesTaken = 0
  /** The work between two jobs, while it runs. */
  #pause: Promise<void> | undefined
  #stopped = false
  /** Whether the database state that its process has cached is out of date. */
  #isStale = false
  /** The process was started for background jobs and has had no others, so it ends with them. */
  #passing = false
  /** Whether its process, or the one that is starting, is for an announced visitor who has not come yet. */
  #isWoken = false
  #crashes = 0
  #notBefore = 0
  #idleTimer: NodeJS.Timeout | undefined
  /** When its process was due to stop and was kept. */
  #keptAt = Number.NEGATIVE_INFINITY

  constructor(site: PhpSite | undefined, owner: SiteQueueOwner) {
    this.site = site
    this.#owner = owner
  }

  /** Every caller that needs PHP has set the site. */
  get #known(): PhpSite {
    return this.site as PhpSite
  }

  get waiting(): number {
    return this.#queue.length
  }

  /** How long an interruptible job has been running, or 0 or less when none is. */
  get interruptibleMs(): number {
    const since = [...this.#running].map((each) => (each.job.interruptible ? each.since : Infinity))
    return performance.now() - Math.min(Infinity, ...since)
  }

  get isWoken(): boolean {
    return this.#isWoken
  }

  get idle(): boolean {
    return !this.#isAlone && this.#running.size === 0 && this.#queue.length === 0
  }

  /**
   * Adds a job at the end of the queue. It leaves the queue when the signal fires. A job that a running one waits for
   * goes first.
   * @throws PhpBusy when too many wait; PhpWaitsForItself
   */
  add(job: Job, signal?: AbortSignal): void {
    if (this.#stopped) throw new PhpCrashed('the site is stopped')
    if (job.isOwn && !this.#endsOwn(job)) throw new PhpWaitsForItself('the site would wait for itself')
    if (!job.isOwn && this.#queue.length >= this.#owner.limits.queueLength)
      throw new PhpBusy(`${this.#queue.length} requests wait for this site`)
    if (job.isOwn) this.#queue.unshift(job)
    else this.#queue.push(job)
    if (!job.background) this.#settle()
    if (!job.wakes) this.#isWoken = false
    const leave = () => {
      const place = this.#queue.indexOf(job)
      if (place < 0) return
      this.#queue.splice(place, 1)
      job.fail(new PhpAbandoned('the caller went away'))
      this.#advance()
    }
    if (signal?.aborted) leave()
    else signal?.addEventListener('abort', leave, { once: true })
    this.#advance()
  }

  /** Starts the process for an announced visitor, unless there is one, or work to do. */
  wake(): void {
    if (this.process || !this.idle || this.#stopping || this.#stopped) return
    this.#isWoken = true
    const over = () => {
      if (!this.process) this.#isWoken = false
    }
    this.add({ wakes: true, isShared: true, interruptible: true, makeRoom: false, run: async () => {}, fail: over })
  }

  /**
   * Makes a warm process the site's own. Two must never share a site directory, so if the site already has one, the new
   * one is stopped.
   * @returns whether it was accepted
   */
  async adopt(process: PhpProcess): Promise<boolean> {
    if (this.process || !this.idle || this.#stopping || this.#stopped) {
      await process.stop(0)
      return false
    }
    this.#keep(process, this.#known, { isLow: true })
    this.#passing = false
    this.lastUsed = performance.now()
    this.#setLow(false)
    this.#armIdleStop()
    return true
  }

  /** Ends the process between two jobs. The next job starts a new one. */
  async restart(): Promise<void> {
    if (this.idle) return this.stopProcess()
    await this.between(async () => {}, { endsProcess: true })
  }

  /**
   * Does work between two jobs, before all waiting ones except those that running jobs wait for. The site's PHP does
   * not work meanwhile, and no process starts.
   * @param endsProcess whether there must be no process meanwhile
   * @param isLast whether it goes after all waiting jobs
   */
  async between<Result>(
    work: () => Promise<Result>,
    { endsProcess, isLast = false }: { endsProcess: boolean; isLast?: boolean },
  ): Promise<Result> {
    if (this.#stopped) throw new PhpCrashed('the site is stopped')
    const result = Promise.withResolvers<Result>()
    const pause = async () => {
      try {
        if (endsProcess) await this.stopProcess()
        await this.#stopping
        result.resolve(await work())
      } catch (error) {
        result.reject(error)
      }
    }
    if (isLast) this.#queue.push({ pause, background: true })
    else this.#queue.splice(this.#queue.filter(isOwn).length, 0, { pause, background: true })
    this.#advance()
    return result.promise
  }

  /**
   * Makes the process drop its cached database state before its next job, because another process has written the
   * database.
   */
  outdate(): void {
    this.#isStale = true
  }

  /** Fails waiting jobs and ends the process. The running job has the grace time. */
  async stop(graceMs?: number): Promise<void> {
    this.#stopped = true
    const waiting = this.#queue.splice(0)
    for (const job of waiting) if (!('pause' in job)) job.fail(new PhpCrashed('the site is stopped'))
    await this.stopProcess(graceMs)
    await this.#pause
    // These need PHP to be idle, which it is now.
    for (const job of waiting) if ('pause' in job) await job.pause()
  }

  /** Ends the process. Resolves when it has ended, so that two never run on one database. */
  async stopProcess(graceMs?: number): Promise<void> {
    clearTimeout(this.#idleTimer)
    const process = this.process
    this.process = undefined
    this.#isWoken = false
    if (process) {
      this.#stopping = process.stop(graceMs).finally(() => {
        this.#stopping = undefined
      })
    }
    await this.#stopping
  }

  /**
   * Whether a job that a running one waits for can finish: it gets PHP now, or at least one running job does not wait
   * for another such job. Takes a place for it if possible.
   */
  #endsOwn(job: Job): boolean {
    if (this.#isAlone || performance.now() - this.#aloneSince > ownPatienceMs) return false
    if (this.#running.size === 0) return true
    const waiting = this.#queue.filter(isOwn).length
    if (waiting === 0 && this.#runsBeside(job) && this.#hasPlace(job)) return true
    const waitedFor = [...this.#running].filter((each) => each.job.isOwn).length + waiting + 1
    return this.#running.size > waitedFor
  }

  /** Starts everything that may start now. Must be called whenever that may have changed. */
  #advance(): void {
    if (this.#isAlone) return
    clearTimeout(this.#idleTimer)
    if (this.#queue.every((next) => this.#runsBeside(next))) this.#aloneSince = Infinity
    for (let next = this.#queue[0]; next; next = this.#queue[0]) {
      if (!this.#runsBeside(next)) {
        if (this.#running.size === 0) void this.#haveAlone(this.#queue.shift() as Job | Pause)
        else this.#aloneSince = Math.min(this.#aloneSince, performance.now())
        return
      }
      if (!this.#hasPlace(next)) return
      this.#queue.shift()
      void this.#run(next, this.process as PhpProcess).then(() => this.#ended())
    }
    if (this.#running.size > 0) return
    this.#armIdleStop()
    this.#owner.freed()
  }

  /**
   * Whether the job may run beside others in the current process. A job that a running one waits for does not wait for
   * the process to be replaced.
   */
  #runsBeside(next: Job | Pause): next is Job {
    if ('pause' in next || !next.isShared || !this.process) return false
    return this.#running.size === 0 ? this.#isCurrent : next.isOwn === true || (this.#isCurrent && !this.#mustGiveWay)
  }

  /** Takes one of the host's places for the job if needed. */
  #hasPlace({ isOwn }: Job): boolean {
    const { size } = this.#running
    const places = this.process?.atOnce ?? 1
    if (size >= places + (isOwn && places > 1 ? ownPlaces : 0)) return false
    if (size > this.#placesTaken) {
      if (!this.#owner.takePlace()) return false
      this.#placesTaken++
    }
    return true
  }

  /** Called after waiting jobs had the chance to take them. */
  #giveBackPlaces(): void {
    for (; this.#placesTaken > Math.max(0, this.#running.size - 1); this.#placesTaken--) this.#owner.giveBack()
  }

  /** Runs exclusive work. A job that can share the process is exclusive only until its process is ready. */
  async #haveAlone(next: Job | Pause): Promise<void> {
    this.#aloneSince = Infinity
    this.#isAlone = true
    if ('pause' in next) {
      this.#pause = next.pause()
      await this.#pause
      this.#pause = undefined
    } else {
      const process = await this.#readyProcess(next).catch((error: Error) => this.#failed(next, error))
      if (process && next.isShared) {
        this.#isAlone = false
        void this.#run(next, process).then(() => this.#ended())
      } else if (process) {
        await this.#run(next, process)
        await this.#yieldWhileBusy()
      }
    }
    this.#isAlone = false
    this.#advance()
  }

  async #ended(): Promise<void> {
    if (this.#running.size === 0 && !this.#isAlone) {
      this.#isAlone = true
      await this.#yieldWhileBusy()
      this.#isAlone = false
    }
    this.#advance()
    this.#giveBackPlaces()
  }

  async #run(job: Job, process: PhpProcess): Promise<void> {
    const running = { job, since: performance.now() }
    this.#running.add(running)
    this.use.begin()
    this.#weighing ??= setInterval(() => this.#weigh(), lookAtUseMs)
    this.#weigh()
    try {
      await job.run(process)
      // A wake-up has run nothing.
      if (!job.wakes) this.#crashes = 0
    } catch (error) {
      if (error instanceof PhpNotReached && !this.#askedAgain.has(job) && !this.#stopped) this.#askAgain(job)
      else this.#failed(job, error as Error)
    } finally {
      this.use.end()
      this.#running.delete(running)
      if (this.#running.size === 0) {
        clearInterval(this.#weighing)
        this.#weighing = undefined
      }
      void this.#discountWaiting()
      if (!job.background && !job.wakes && !job.isLook) this.lastUsed = performance.now()
      if (job.isVisit) this.visits.add()
    }
  }

  /** Repeats a job that never began. The next process runs it before all later ones. */
  #askAgain(job: Job): void {
    this.#askedAgain.add(job)
    this.#queue.unshift(job)
  }

  #failed(job: Job, error: Error): undefined {
    job.fail(error)
    if (error instanceof PhpTimeout && !(error instanceof PhpDisplaced)) this.#owner.count('timeout')
    else if (error instanceof PhpTaskError) this.#crashes = 0
  }

  /**
   * Lowers the priority of a site that has had its share, and of processes that run only background jobs. Stead's own
   * work for an operation keeps the normal priority.
   */
  #weigh(): void {
    const isForVisitors = [...this.#running].every(({ job }) => job.interruptible)
    this.#setLow(this.#passing || (isForVisitors && !this.#owner.isModest(this)))
  }

  #setLow(low: boolean): void {
    if (this.#isLow === low) return
    this.#isLow = low
    this.process?.setLowPriority(low)
  }

  /**
   * Subtracts the time that the process waited for CPU from its use. Otherwise, short pages would count like long ones
   * on a busy machine.
   */
  async #discountWaiting(): Promise<void> {
    if (this.#isDiscounting) return
    this.#isDiscounting = true
    // Not after each of many short pages, because it costs several system calls.
    const earlyMs = this.#discountedAt + lookAtUseMs - performance.now()
    if (earlyMs > 0) await sleep(earlyMs, undefined, { ref: false })
    this.#isDiscounting = false
    this.#discountedAt = performance.now()
    const { process } = this
    const waited = await process?.waitedMs()
    if (waited === undefined || this.process !== process) return
    // It is less than before if a part of the process has ended.
    this.use.add(Math.min(0, this.#waitedMs - waited))
    this.#waitedMs = waited
  }

  /** Whether the process fits the site's current settings and database. */
  get #isCurrent(): boolean {
    const running = this.#processSite
    if (!this.process || !running || this.#stopping || this.#isStale) return false
    return sameProcess(running, this.#known) && running.address === this.#known.address
  }

  /** Returns the running process if it still fits the site, or else a new one. No job may be running. */
  async #readyProcess(job: Job): Promise<PhpProcess> {
    await this.#stopping
    const running = this.#processSite
    if (this.process && running && !sameProcess(running, this.#known)) await this.stopProcess()
    if (this.process && running && !this.#isCurrent) {
      this.#isStale = false
      await this.process.moveIn({ address: this.#known.address })
      this.#processSite = this.#known
    }
    if (this.process) return this.process
    const pause = this.#notBefore - performance.now()
    if (pause > 0) throw new PhpCrashed(`PHP of this site crashed ${this.#crashes} times; next attempt in ${pause} ms`)
    const site = this.#known
    const lowPriority = job.background === true && this.#queue.every((each) => each.background)
    this.#passing = lowPriority
    try {
      const started = await this.#owner.start(this, { lowPriority, makeRoom: job.makeRoom !== false })
      this.#keep(started, site, { isLow: lowPriority })
      // Someone may have come while it started.
      this.#setLow(this.#passing)
    } catch (error) {
      if (!(error instanceof PhpBusy)) this.#crashed()
      throw error
    }
    if (this.#stopped) {
      await this.stopProcess(0)
      throw new PhpCrashed('the site is stopped')
    }
    return this.process as unknown as PhpProcess
  }

  /** Turns a process that was started for background jobs into a normal one, because someone waits. */
  #settle(): void {
    if (!this.#passing) return
    this.#passing = false
    this.#setLow(false)
  }

  #keep(process: PhpProcess, site: PhpSite, { isLow }: { isLow: boolean }): void {
    this.process = process
    this.#isStale = false
    this.#isLow = isLow
    this.#waitedMs = 0
    process.onNote = (text) => this.#owner.note(text)
    process.onAsk = (text) => this.#owner.ask(text)
    this.#processSite = site
    this.#startedAt = performance.now()
    process.exited.then((exit) => {
      if (this.process !== process) return // stopped on purpose, or replaced
      this.process = undefined
      this.#isWoken = false
      if (!exit.timedOut) this.#crashed()
      this.#owner.freed()
    })
  }

  #crashed(): void {
    this.#owner.count('crash')
    this.use.add(crashUseMs)
    this.#crashes++
    const doublings = this.#crashes - freeCrashes - 1
    if (doublings >= 0) this.#notBefore = performance.now() + Math.min(longestPauseMs, 500 * 2 ** doublings)
  }

  /** Whether the process must end: it is worn or too large, or it has had its turn and others wait. */
  get #mustGiveWay(): boolean {
    if (!this.process) return false
    const turnIsOver = this.#owner.wanted(this) && performance.now() - this.#startedAt > leastTurnMs
    return this.#isWorn || turnIsOver
  }

  get #isWorn(): boolean {
    const { worn = false, lastResidentBytes = 0 } = this.process ?? {}
    return worn || lastResidentBytes > this.#owner.limits.processMemoryBytes
  }

  /** Ends the process between two jobs if it must, or if it was only for background jobs. */
  async #yieldWhileBusy(): Promise<void> {
    if (!this.process) return
    const wasPassing = this.#passing && this.#queue.length === 0
    if (!this.#mustGiveWay && !wasPassing) return
    if (this.#isWorn) this.#owner.count('replace')
    await this.stopProcess()
    this.#owner.freed()
  }

  #armIdleStop(): void {
    clearTimeout(this.#idleTimer)
    if (this.#stopped) return
    // Counted from the last job that someone waited for. Otherwise, scheduled events every minute would keep it
    // forever.
    const { idleMs, wokenMs = 10_000 } = this.#owner.limits
    const until = this.#isWoken ? this.#startedAt + wokenMs : Math.max(this.lastUsed, this.#keptAt) + idleMs
    const leftMs = Math.max(0, until - performance.now())
    this.#idleTimer = setTimeout(() => {
      if (!this.idle) return
      if (!this.process || this.#isWoken || !this.#owner.staysReady(this))
        return void this.stopProcess().then(() => this.#owner.freed())
      this.#keptAt = performance.now()
      this.#armIdleStop()
    }, leftMs).unref()
  }
}

const isOwn = (next: Job | Pause): boolean => 'isOwn' in next && next.isOwn === true

/** Whether a process started for `before` can serve `now`. A new address alone does not require a new process. */
function sameProcess(before: PhpSite, now: PhpSite): boolean {
  return (
    before.siteDirectory === now.siteDirectory &&
    before.corePath === now.corePath &&
    before.phpVersion === now.phpVersion &&
    before.uid === now.uid &&
    (before.isInSafeMode ?? false) === (now.isInSafeMode ?? false)
  )
}
