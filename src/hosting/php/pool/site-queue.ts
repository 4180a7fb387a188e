import { setTimeout as sleep } from 'node:timers/promises'
import {
  PhpAbandoned,
  PhpBusy,
  PhpCrashed,
  PhpDisplaced,
  PhpNotReached,
  type PhpProcess,
  type PhpSite,
  PhpTaskError,
  PhpTimeout,
  PhpWaitsForItself,
} from '../runtime.ts'
import { RecentCount, RecentUse } from './recent-use.ts'

export interface SiteQueueLimits {
  /** Jobs of one site that may wait. */
  readonly queueLength: number
  readonly idleMs: number
  /** So long a process waits that was started for a visitor to come; default 10 s. */
  readonly wokenMs?: number
  /** A process that is larger between two jobs is replaced; twice that, it is ended at once. */
  readonly processMemoryBytes: number
}

/** Something that needs a site's PHP for a while. */
export interface Job {
  /** Resolves when PHP is free again. */
  run(process: PhpProcess): Promise<void>
  fail(error: Error): void
  /** Nobody waits for it: it keeps no process alive, and one that is started for it is the lowest in priority. */
  readonly background?: boolean
  /** Default true; false: it fails with PhpBusy rather than have others lose memory. */
  readonly makeRoom?: boolean
  /** It is there for a visitor to come, and nobody is one. */
  readonly wakes?: boolean
  /** A visitor waits for it: a site that has many stays ready for the next. */
  readonly isVisit?: boolean
  /** It may be broken off when it takes long and others wait. */
  readonly interruptible?: boolean
  /** Default false; true: it runs beside others of its kind where the process works on several at once. */
  readonly isShared?: boolean
  /** One of the site's requests at work waits for it. */
  readonly isOwn?: boolean
}

/** A job that has PHP. */
interface Running {
  readonly job: Job
  readonly since: number
}

/** Something that needs a site's PHP not to work for a while. */
interface Pause {
  /** Never fails. */
  readonly pause: () => Promise<void>
  readonly background: true
}

/** How a process is to be started. */
export interface StartOptions {
  readonly lowPriority: boolean
  readonly makeRoom: boolean
}

/** What a lane asks of the pool. */
export interface SiteQueueOwner {
  readonly limits: SiteQueueLimits
  /** Starts a process when there is memory for it. @throws PhpBusy when there is none */
  start(lane: SiteQueue, options: StartOptions): Promise<PhpProcess>
  /** The lane has nothing to do now, or lost its process. */
  freed(): void
  /** Another site waits for memory, and has not had more than this one. */
  wanted(lane: SiteQueue): boolean
  /** It has had less lately than a good part of what would be fair. */
  isModest(lane: SiteQueue): boolean
  /** It keeps its process though nobody comes: it is one of the most visited. */
  staysReady(lane: SiteQueue): boolean
  /** A place beside the site's first, given back by {@link giveBack}. @returns false when there is none */
  takePlace(): boolean
  giveBack(): void
  /** What the site says while it works. */
  note(text: string): void
  /** What the site asks the host. */
  ask(text: string): Promise<string>
  count(event: 'crash' | 'replace' | 'timeout'): void
}

const freeCrashes = 2
// The next start is on it.
const crashUseMs = 5000
const longestPauseMs = 30_000
// A start costs 0.4 s and a first page 1 to 2 s, so that sites take turns in memory no faster than this.
const leastTurnMs = 5000
const lookAtUseMs = 1000
/** A site that is visited by day is known the next morning. */
const visitsHalfLifeMs = 43_200_000
/** Beyond what visitors get, for a request that a site sends to itself: they may all wait for one. */
const ownPlaces = 1
/** After it what is to be done alone does not wait for requests that the site goes on sending to itself. */
const ownPatienceMs = 10_000

/**
 * One site's queue and, when there is work, its process. First come, first served. Visitors' requests run beside each other as far as the
 * process can; everything else alone, with nothing at work before it and nothing begun after.
 */
export class SiteQueue {
  /** Known from the first job on that needs PHP. */
  site: PhpSite | undefined
  process: PhpProcess | undefined
  /** When the last job ended that somebody waited for. */
  lastUsed = performance.now()
  /** How long the site's PHP was at work lately. */
  readonly use = new RecentUse()
  /** How often visitors have needed the site's PHP lately. */
  readonly visits = new RecentCount(visitsHalfLifeMs)
  readonly #owner: SiteQueueOwner
  readonly #queue: (Job | Pause)[] = []
  #processSite: PhpSite | undefined
  #startedAt = 0
  /** Its process has the lowest priority. */
  #isLow = false
  /** What its process waited for the processor, as far as it is taken off its use. */
  #waitedMs = 0
  #discountedAt = -Infinity
  #isDiscounting = false
  /** Jobs whose process was gone before they began. */
  readonly #askedAgain = new WeakSet<Job>()
  #stopping: Promise<void> | undefined
  readonly #running = new Set<Running>()
  /** Something has the lane to itself: a job, a pause, or a process that starts or ends. */
  #isAlone = false
  /** Since when what is to be done alone waits for what is at work. */
  #aloneSince = Infinity
  #weighing: NodeJS.Timeout | undefined
  /** Of the host's, for all at work but one. */
  #placesTaken = 0
  /** What is done between two jobs, while it is. */
  #pause: Promise<void> | undefined
  #stopped = false
  /** What its process keeps of the database is out of date. */
  #isStale = false
  /** The process was started for background jobs, and has had no others: it ends with them. */
  #passing = false
  /** Its process, or the one that starts, is for a visitor who has not come yet. */
  #isWoken = false
  #crashes = 0
  #notBefore = 0
  #idleTimer: NodeJS.Timeout | undefined
  /** When its process was to stop, and was kept. */
  #keptAt = Number.NEGATIVE_INFINITY

  constructor(site: PhpSite | undefined, owner: SiteQueueOwner) {
    this.site = site
    this.#owner = owner
  }

  /** Whoever needs PHP has said which site it is. */
  get #known(): PhpSite {
    return this.site as PhpSite
  }

  get waiting(): number {
    return this.#queue.length
  }

  /** How long a job that may be broken off has had PHP; 0 or less when none has. */
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
   * Puts a job at the end of the queue; with a signal it leaves the queue when that fires. What one at work waits for comes first.
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

  /** Starts the process for a visitor who is about to come, unless there is one, or something to do. */
  wake(): void {
    if (this.process || !this.idle || this.#stopping || this.#stopped) return
    this.#isWoken = true
    const over = () => {
      if (!this.process) this.#isWoken = false
    }
    this.add({ wakes: true, isShared: true, interruptible: true, makeRoom: false, run: async () => {}, fail: over })
  }

  /**
   * Makes a warm process the site's own. Never two on one site directory: if the site has one already, the new one is stopped.
   * @returns whether it was taken
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

  /** Ends the process between two jobs; the next job starts a new one. */
  async restart(): Promise<void> {
    if (this.idle) return this.stopProcess()
    await this.between(async () => {}, { endsProcess: true })
  }

  /**
   * Does something between two jobs, before all that wait but what those at work wait for: nothing of the site's PHP works meanwhile, and no
   * process is started.
   * @param endsProcess there is none at all meanwhile
   * @param isLast after all that wait
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

  /** Somebody else has written the database: what the process keeps of it is forgotten before its next job. */
  outdate(): void {
    this.#isStale = true
  }

  /** Gives up what waits for PHP and ends the process; what runs has the grace time. */
  async stop(graceMs?: number): Promise<void> {
    this.#stopped = true
    const waiting = this.#queue.splice(0)
    for (const job of waiting) if (!('pause' in job)) job.fail(new PhpCrashed('the site is stopped'))
    await this.stopProcess(graceMs)
    await this.#pause
    // they wanted PHP not to work, which holds now
    for (const job of waiting) if ('pause' in job) await job.pause()
  }

  /** Ends the process; resolves when it is gone, so that the next never runs beside it on one database. */
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
   * Whether a request that one at work waits for comes to an end: it gets PHP now, or somebody at work surely does not wait for another such
   * request. One that may have a place has it from here on.
   */
  #endsOwn(job: Job): boolean {
    if (this.#isAlone || performance.now() - this.#aloneSince > ownPatienceMs) return false
    if (this.#running.size === 0) return true
    const waiting = this.#queue.filter(isOwn).length
    if (waiting === 0 && this.#runsBeside(job) && this.#hasPlace(job)) return true
    const waitedFor = [...this.#running].filter((each) => each.job.isOwn).length + waiting + 1
    return this.#running.size > waitedFor
  }

  /** Begins what may begin now. Called whenever that may have changed. */
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

  /** Whether it may be at work beside others, as the process is now. What one of them waits for does not wait for the process' end. */
  #runsBeside(next: Job | Pause): next is Job {
    if ('pause' in next || !next.isShared || !this.process) return false
    return this.#running.size === 0 ? this.#isCurrent : next.isOwn === true || (this.#isCurrent && !this.#mustGiveWay)
  }

  /** Takes one of the host's places for it if need be. */
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

  /** After those that wait have had the chance to get them. */
  #giveBackPlaces(): void {
    for (; this.#placesTaken > Math.max(0, this.#running.size - 1); this.#placesTaken--) this.#owner.giveBack()
  }

  /** Alone as long as it has to be: a request that runs beside others only until its process is there. */
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
      // it has done nothing
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
      if (!job.background && !job.wakes) this.lastUsed = performance.now()
      if (job.isVisit) this.visits.add()
    }
  }

  /** It was never begun: the next process does it, before all that came later. */
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
   * A site that has had its part leaves the processor to those that have not, and nobody waits for what runs in passing. What Stead does
   * in a site for somebody's operation has the usual priority.
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

  /** What it waited for the processor it has not had: where many compute, short pages would count like long ones. */
  async #discountWaiting(): Promise<void> {
    if (this.#isDiscounting) return
    this.#isDiscounting = true
    // not at each of many short pages: the machine is asked several things for it
    const earlyMs = this.#discountedAt + lookAtUseMs - performance.now()
    if (earlyMs > 0) await sleep(earlyMs, undefined, { ref: false })
    this.#isDiscounting = false
    this.#discountedAt = performance.now()
    const { process } = this
    const waited = await process?.waitedMs()
    if (waited === undefined || this.process !== process) return
    // less than before where a part of it has ended
    this.use.add(Math.min(0, this.#waitedMs - waited))
    this.#waitedMs = waited
  }

  /** The process fits the site as it is now, and knows its database as it is. */
  get #isCurrent(): boolean {
    const running = this.#processSite
    if (!this.process || !running || this.#stopping || this.#isStale) return false
    return sameProcess(running, this.#known) && running.address === this.#known.address
  }

  /** The running process if it still fits the site, else a new one. Nothing is at work. */
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
      // somebody may have come while it started
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

  /** Somebody waits: a process that was started for background jobs is one like others from now on. */
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

  /** A worn or swollen process is replaced, and one that had its turn makes room for who waits. */
  get #mustGiveWay(): boolean {
    if (!this.process) return false
    const turnIsOver = this.#owner.wanted(this) && performance.now() - this.#startedAt > leastTurnMs
    return this.#isWorn || turnIsOver
  }

  get #isWorn(): boolean {
    const { worn = false, lastResidentBytes = 0 } = this.process ?? {}
    return worn || lastResidentBytes > this.#owner.limits.processMemoryBytes
  }

  /** Between two jobs; one that came for background jobs goes as well. */
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
    // Counted from the last job that somebody waited for: scheduled events every minute would keep it for ever.
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

/** Whether a process started for `before` can serve `now`; a new address alone needs no new process. */
function sameProcess(before: PhpSite, now: PhpSite): boolean {
  return (
    before.siteDirectory === now.siteDirectory &&
    before.corePath === now.corePath &&
    before.phpVersion === now.phpVersion &&
    before.uid === now.uid &&
    (before.inSafeMode ?? false) === (now.inSafeMode ?? false)
  )
}
