import type { Readable } from 'node:stream'
import type { Budget } from '../../../platform/budgets/budget.ts'
import { Commands } from '../command-processes.ts'
import {
  type CommandPlan,
  PhpBusy,
  type PhpCommand,
  type PhpProcess,
  type PhpRequest,
  type PhpResponse,
  type PhpRuntime,
  type PhpSite,
  type PhpStart,
  PhpTimeout,
  type RunTaskOptions,
  type TakeTurn,
} from '../runtime.ts'
import { PhpTaskError } from '../task-error.ts'
import { alsoWithoutPlugins, besideVisitors, type TaskInput, type TaskName, type TaskOutput } from '../tasks.ts'
import { limitTime } from '../time-limit.ts'
import { type BodyLimits, type HeldRequestBody, holdRequestBody } from './held-body.ts'
import { MemoryAdmission } from './memory-admission.ts'
import { MemoryWatch, type WatchedProcess } from './memory-watch.ts'
import { type Job, SiteQueue, type SiteQueueLimits, type StartOptions } from './site-queue.ts'

export interface PooledSite extends PhpSite {
  readonly siteId: number
}

export interface PoolLimits extends SiteQueueLimits {
  /** Time limit from the start of PHP's work on a request to its end. */
  readonly requestMs: number
  readonly taskMs: number
  /**
   * This many sites, those with the most visits, keep their process while idle, as long as half of the memory is free.
   * Default: 0.
   */
  readonly readySites?: number
  /** Limit for all processes together, spares included. */
  readonly memoryBytes: number
  /** Limits for the bodies of visitors' requests. */
  readonly bodies: BodyLimits
  /** Budget for concurrent requests of a site beyond its first. Default: as many as PHP allows. */
  readonly places?: Budget
  readonly log?: { warn(facts: object, message: string): void }
  /** Called when a visitor's request was ended, or never answered, because it took too long. */
  readonly onCutOff?: (site: PooledSite, request: VisitorRequest, error: PhpTimeout) => void
  /**
   * Called after PHP of a site has worked: on something that may have written its files, or on a page for a visitor.
   */
  readonly onWorked?: (siteId: number, kind: 'write' | 'read') => void
  /** Called with messages of a site. See `PhpProcess.onNote`. */
  readonly onNote?: (siteId: number, text: string) => void
  /** Answers questions of a site. See `PhpProcess.onAsk`. */
  readonly onAsk?: (siteId: number, text: string) => Promise<string>
}

/** A visitor's request as it arrived at the host. Its body has not been read, and its length may be unknown. */
export interface VisitorRequest extends Omit<PhpRequest, 'bodyBytes'> {
  readonly body: Readable | null
  /** Length of the body. Undefined when the visitor has not announced it. */
  readonly announcedBytes?: number | undefined
}

export interface TaskOptions {
  readonly timeoutMs?: number
  /** Longer time limit while nobody waits for the site's PHP. Default: `timeoutMs`. */
  readonly longMs?: number
  /**
   * Nobody waits for the result. A process that starts for it has the lowest priority and ends right after, unless a
   * visitor came meanwhile. It does not keep a running process alive.
   */
  readonly background?: boolean
  /**
   * Default: true. With false, throws PhpBusy instead of waiting for memory, or taking it from a site that was in use
   * within the last minute.
   */
  readonly makeRoom?: boolean
  /** Whether it belongs to the work for which the site is held. */
  readonly whileHeld?: boolean
}

export interface PhpVisitOptions extends Pick<TaskOptions, 'whileHeld'> {
  /** Whether the site's own PHP has sent it and waits for the answer, so that it comes first. */
  readonly isOwn?: boolean
  /** Whether Stead judges the site by it. As for tasks, time in which PHP had no CPU does not count. */
  readonly isJudged?: boolean
  /** Whether the monitoring asks. It does not count as a visit, and does not keep PHP from sleeping. */
  readonly isLook?: boolean
  /** Called when the request turns out to be a page of an administrator, which may take longer. */
  readonly onLong?: () => void
}

/** A run of PHP's command line. */
export interface CommandRun {
  readonly args: readonly string[]
  /** Answers a question of the command. Undefined: the question is for others. */
  readonly onAsk?: (text: string) => Promise<string> | undefined
}

/** A command and its process. */
export interface RunningCommand extends PhpCommand {
  readonly exited: Promise<unknown>
  kill(error: Error): void
  /** Whether it may have changed the database. */
  wrote(): boolean
}

export interface PoolStats {
  readonly processes: number
  readonly spares: number
  readonly busy: number
  readonly waiting: number
  readonly residentBytes: number
  readonly crashes: number
  readonly timeouts: number
  readonly replaced: number
  readonly refused: number
}

const inUseMs = 60_000
/** An administrator's page, such as an import or a backup, may take this many times longer. */
const ADMINISTRATOR_TIMES = 5
/** PHP sends this when WordPress recognizes an administrator in a page of the dashboard (`tasks/prepend.php`). */
const ADMINISTERS = '{"administers":true}'
/** A site with fewer recent visits never counts as one of the most visited. */
const LEAST_VISITS = 10
/** The most processes that are started for announced visitors who have not come yet. */
const MOST_WOKEN = 4
/** A command that runs longer than this gets the lowest CPU priority, */
const LONG_COMMAND_MS = 10_000
/** until visitors have waited this long for one of its turns at the database. */
const HASTE_MS = 200

/**
 * The PHP processes of a host, by site. Each site has a queue, and its process starts on demand, within a memory
 * budget.
 */
export class PhpPool {
  readonly #runtime: PhpRuntime
  readonly #limits: PoolLimits
  readonly #queues = new Map<number, SiteQueue>()
  readonly #spares = new Set<PhpProcess>()
  readonly #memory: MemoryWatch
  readonly #counts = { crash: 0, timeout: 0, replace: 0, refused: 0 }
  readonly #room: MemoryAdmission
  readonly #commands = new Commands()
  /** Sites whose PHP runs only for the work on them, with their holders. */
  readonly #held = new Map<number, Set<string>>()
  /** Running dashboard requests by site, to notify when WordPress recognizes an administrator in one of them. */
  readonly #administrators = new Map<number, Set<() => void>>()

  constructor(runtime: PhpRuntime, limits: PoolLimits) {
    this.#runtime = runtime
    this.#limits = limits
    const { memoryBytes, processMemoryBytes, log = { warn() {} } } = limits
    const processes = () => this.#watched()
    const queues = () => this.#queues.values()
    const [spares, commands] = [() => this.#spares, () => this.#commands.processes()]
    this.#room = new MemoryAdmission({ queues, spares, commands, memoryBytes, waitMs: limits.requestMs, inUseMs, log })
    this.#memory = new MemoryWatch({ processes, memoryBytes, processMemoryBytes, inUseMs, log })
  }

  /**
   * Runs a visitor's request on the site's PHP, which starts if necessary. Resolves with the head. The body follows
   * while PHP runs.
   * @param signal fires when the visitor has disconnected, which drops a waiting request
   * @throws PhpBusy, PhpWaitsForItself, PhpTimeout, PhpCrashed, PhpAbandoned, PhpBodyTooLarge
   */
  async handle(
    site: PooledSite,
    request: VisitorRequest,
    signal?: AbortSignal,
    { whileHeld, isOwn, isJudged, isLook, onLong }: PhpVisitOptions = {},
  ): Promise<PhpResponse> {
    const held = await this.#takeIn(site, request)
    const answer = Promise.withResolvers<PhpResponse>()
    const job: Job = {
      // An operation waits for it, so it runs to its end.
      interruptible: !isJudged,
      isShared: true,
      isOwn,
      isLook,
      isVisit: !isOwn && !isJudged && !isLook,
      run: async (process) => {
        const end = new AbortController()
        const lift = this.#limitVisit(site.siteId, process, { request, end, isJudged, onLong })
        try {
          const body = held && held.bytes > 0 ? held.read() : null
          const asked = { ...request, body, bodyBytes: held?.bytes ?? 0 }
          const { finished, ...response } = await process.request(asked, end.signal)
          answer.resolve(response)
          await finished
        } catch (error) {
          if (end.signal.aborted) this.#limits.onCutOff?.(site, request, end.signal.reason)
          throw error
        } finally {
          lift()
          this.#limits.onWorked?.(site.siteId, mayWrite(request) ? 'write' : 'read')
        }
      },
      fail: answer.reject,
    }
    try {
      this.#add(site, job, { signal, whileHeld })
      return await answer.promise
    } finally {
      // The head arrives only after the whole body was sent.
      await held?.release()
    }
  }

  /**
   * Starts the site's PHP for an announced visitor if that takes memory from nobody. It ends soon when none comes. Few
   * such processes may run at a time, so that announcing visitors to thousands of sites starts no more.
   */
  wake(site: PooledSite): void {
    if (this.#held.has(site.siteId) || !this.#room.hasRoom(this.#runtime.usualBytes(site))) return
    const woken = [...this.#queues.values()].filter((queue) => queue.isWoken).length
    if (woken < MOST_WOKEN) this.#queue(site).wake()
  }

  /** Returns whether the site's PHP runs, so that a page starts no process. */
  isAwake({ siteId }: PooledSite): boolean {
    return this.#queues.get(siteId)?.process !== undefined
  }

  /**
   * Runs one of Stead's tasks in the site's PHP, in turn with its requests. Except for some ({@link besideVisitors}),
   * tasks run alone. The result has the task's type, but its content comes from the site and is not trusted.
   * @throws PhpTaskError with PHP's message, or when the result has another type; PhpBusy, PhpTimeout, PhpCrashed
   */
  async runTask<Name extends TaskName>(
    site: PooledSite,
    name: Name,
    input: TaskInput<Name>,
    options: TaskOptions = {},
  ): Promise<TaskOutput<Name>> {
    const answer = Promise.withResolvers<TaskOutput<Name>>()
    const { background, makeRoom, timeoutMs = this.#limits.taskMs, longMs = 0, whileHeld } = options
    const job: Job = {
      background,
      makeRoom,
      isShared: besideVisitors.has(name),
      // An operation waits for it, so it runs to its end.
      interruptible: background,
      run: async (process) => {
        const mayGoOn = this.#whileNobodyWaits(site.siteId, longMs)
        answer.resolve(await runUnanswered(process, name, input, { timeoutMs, mayGoOn }))
        this.#limits.onWorked?.(site.siteId, 'write')
      },
      fail: answer.reject,
    }
    this.#add(site, job, { whileHeld })
    return answer.promise
  }

  /**
   * Runs PHP's command line in a separate process, after visitors in priority, memory, and turns at the database. The
   * caller must kill the process when nobody needs it any longer.
   * @throws PhpBusy when the site is held, memory is short, or too many commands run
   */
  async runCommand(site: PooledSite, { args, onAsk, ...plan }: CommandPlan & CommandRun): Promise<RunningCommand> {
    const { siteId } = site
    const requireOpen = () => {
      if (this.#held.has(siteId)) throw new PhpBusy('another operation is using the site')
    }
    requireOpen()
    const process = await this.#commands.start(siteId, async () => {
      const started = await this.#room.reserveBehind(this.#runtime.usualBytes(site))
      try {
        requireOpen()
        return await this.#startProcess(site, { command: plan })
      } finally {
        started()
      }
    })
    process.onNote = (text) => this.#limits.onNote?.(siteId, text)
    process.onAsk = async (text) => (await onAsk?.(text)) ?? this.#limits.onAsk?.(siteId, text) ?? ''
    // A short command is answered immediately. A long one loses priority.
    const long = setTimeout(() => process.setLowPriority(true), LONG_COMMAND_MS)
    process.exited.then(() => {
      clearTimeout(long)
      this.#room.freed()
    })
    let hasWritten = false
    const wrote = () => {
      hasWritten = true
    }
    const command = process.runCommand?.(args, this.#turns(site, process, wrote))
    if (!command) throw new Error('this runtime has no command line')
    // The process served only this command.
    const over = () => void process.stop(0)
    command.finished.then(over, over)
    return { ...command, kill: (error) => process.kill(error), exited: process.exited, wrote: () => hasWritten }
  }

  /**
   * Returns how a command takes turns at the database. Each turn is between two of the site's requests, and visitors
   * wait while it lasts.
   */
  #turns(site: PooledSite, process: PhpProcess, wrote: () => void): TakeTurn {
    return async () => {
      const begun = Promise.withResolvers<void>()
      const over = Promise.withResolvers<boolean>()
      const queue = this.#queue(site)
      const turn = async () => {
        const late = setTimeout(
          () => process.kill(new PhpTimeout(`the command kept the database for ${this.#limits.requestMs} ms`)),
          this.#limits.requestMs,
        )
        // The site's visitors wait for it.
        const haste = setTimeout(() => process.setLowPriority(false), HASTE_MS)
        begun.resolve()
        const hasWritten = await over.promise
        clearTimeout(late)
        clearTimeout(haste)
        if (!hasWritten) return
        queue.outdate()
        wrote()
      }
      queue.between(turn, { endsProcess: false, isLast: true }).catch(begun.reject)
      await begun.promise
      return over.resolve
    }
  }

  /**
   * Starts a process that belongs to no site yet. It counts towards the memory budget.
   * @param options.lowPriority whether it has the lowest CPU priority; false when someone waits for it
   * @returns undefined when memory is short, because nothing is stopped for it
   */
  async startSpare(
    site: PhpSite,
    { lowPriority = true, signal }: Pick<PhpStart, 'lowPriority' | 'signal'> = {},
  ): Promise<PhpProcess | undefined> {
    const started = this.#room.take(this.#runtime.usualBytes(site))
    if (!started) return undefined
    try {
      const spare = await this.#startProcess(site, { lowPriority, signal })
      this.#spares.add(spare)
      spare.exited.then(() => {
        this.#spares.delete(spare)
        this.#room.freed()
      })
      return spare
    } finally {
      started()
    }
  }

  /**
   * Turns a spare, which has already moved in, into a site's process. Must come before the site's first request.
   * @returns false when the site already had a process, in which case the spare is stopped
   */
  async adopt(site: PooledSite, spare: PhpProcess): Promise<boolean> {
    this.#spares.delete(spare)
    return this.#queue(site).adopt(spare)
  }

  /**
   * Does work on a site's data between two of its requests, before those that wait. The site's PHP does not work
   * meanwhile, and no process starts, not even for this. Visitors of the site wait while it lasts.
   * @param endsProcess whether to end the process first, because what it knows of its data would be wrong afterwards
   * @throws PhpCrashed when the site is being stopped; otherwise errors of the work
   */
  async between<Result>(siteId: number, work: () => Promise<Result>, { endsProcess = false } = {}): Promise<Result> {
    const pause = () => this.#laneOf(siteId).between(work, { endsProcess })
    return endsProcess ? this.#commands.without(siteId, pause) : pause()
  }

  /** Ends the site's process when its current work is done. The next request starts a new one. */
  async restart(siteId: number): Promise<void> {
    await this.#queues.get(siteId)?.restart()
  }

  /** Ends the site's processes and forgets the site. Waiting requests fail. A later request starts over. */
  async stop(siteId: number, graceMs?: number): Promise<void> {
    await this.#commands.endOfSite(siteId, 'the site was stopped')
    const queue = this.#queues.get(siteId)
    // Known until its process has ended, so that no request starts another one meanwhile.
    await queue?.stop(graceMs)
    if (this.#queues.get(siteId) === queue) this.#queues.delete(siteId)
    this.#room.freed()
  }

  /**
   * Ends the site's process, and starts none for it until `release`, except for tasks with `whileHeld`. Another call
   * also ends such a task's process. Lasts as long as this Stead process, so operations that continue after a crash
   * must call it again.
   * @param by the holder; the site stays held until every holder has released it
   */
  async hold(siteId: number, graceMs?: number, by = 'operation'): Promise<void> {
    this.#held.set(siteId, new Set([...(this.#held.get(siteId) ?? []), by]))
    await this.stop(siteId, graceMs)
  }

  /** Returns whether something holds the site, so that no visitor may start its PHP. */
  isHeld(siteId: number): boolean {
    return this.#held.has(siteId)
  }

  /** Ends a {@link hold}. */
  release(siteId: number, by = 'operation'): void {
    const holders = this.#held.get(siteId)
    holders?.delete(by)
    if (holders?.size === 0) this.#held.delete(siteId)
  }

  async stopAll(graceMs?: number): Promise<void> {
    this.#memory.stop()
    this.#room.stop()
    await Promise.all([
      this.#commands.stop(),
      ...[...this.#queues.keys()].map((siteId) => this.stop(siteId, graceMs)),
      ...[...this.#spares].map((spare) => spare.stop(graceMs)),
    ])
  }

  /** Returns the process ID of the site's PHP, if it is running. */
  pidOf(siteId: number): number | undefined {
    return this.#queues.get(siteId)?.process?.pid
  }

  /** Returns the sites whose PHP is running, with their site directories. */
  running(): { siteId: number; siteDirectory: string }[] {
    return [...this.#queues].flatMap(([siteId, { process, site }]) =>
      process && site ? [{ siteId, siteDirectory: site.siteDirectory }] : [],
    )
  }

  /** Whether PHP of any site is working for a visitor. */
  servesVisitors(): boolean {
    for (const queue of this.#queues.values()) if (queue.interruptibleMs > 0) return true
    return false
  }

  /** Whether PHP of any site is starting, or working for an operation. */
  servesOperations(): boolean {
    for (const queue of this.#queues.values()) if (!queue.idle && queue.interruptibleMs <= 0) return true
    return false
  }

  stats(): PoolStats {
    const queues = [...this.#queues.values()]
    return {
      processes: queues.filter((queue) => queue.process).length,
      spares: this.#spares.size,
      busy: queues.filter((queue) => !queue.idle).length,
      waiting: queues.reduce((sum, queue) => sum + queue.waiting, 0),
      residentBytes: this.#residentBytes(),
      crashes: this.#counts.crash,
      timeouts: this.#counts.timeout,
      replaced: this.#counts.replace,
      refused: this.#counts.refused,
    }
  }

  /** @returns a function that lifts the limit */
  #limitVisit(
    siteId: number,
    { pid }: PhpProcess,
    { request, end, isJudged, onLong }: Pick<PhpVisitOptions, 'isJudged' | 'onLong'> & LimitedVisit,
  ): () => void {
    const { requestMs: ms } = this.#limits
    const limit = { ms, pid, what: 'PHP did not finish the page', onOver: (error: PhpTimeout) => end.abort(error) }
    if (isJudged) return limitTime(limit)
    if (mayAdminister(request)) {
      let isLong = false
      const tell = () => {
        if (!isLong) onLong?.()
        isLong = true
      }
      const lift = limitTime({ ...limit, longMs: () => (isLong ? ms * ADMINISTRATOR_TIMES : 0) })
      const visits = this.#administrators.get(siteId) ?? new Set()
      this.#administrators.set(siteId, visits.add(tell))
      return () => {
        lift()
        visits.delete(tell)
        if (visits.size === 0) this.#administrators.delete(siteId)
      }
    }
    const timer = setTimeout(() => end.abort(new PhpTimeout(`PHP did not finish within ${ms} ms`)), ms)
    return () => clearTimeout(timer)
  }

  #hear(siteId: number, text: string): void {
    if (text === ADMINISTERS) for (const tell of this.#administrators.get(siteId) ?? []) tell()
    else this.#limits.onNote?.(siteId, text)
  }

  /** Returns whether what begins now may continue: for this long, and only while nothing waits for the site's PHP. */
  #whileNobodyWaits(siteId: number, longMs: number): () => boolean {
    const startedAt = performance.now()
    return () => performance.now() - startedAt < longMs && (this.#queues.get(siteId)?.waiting ?? 0) === 0
  }

  /** Receives the body of a request, but only if it is likely to get a place in the queue. */
  async #takeIn({ siteId }: PooledSite, request: VisitorRequest): Promise<HeldRequestBody | null> {
    if (!request.body) return null
    try {
      const waiting = this.#queues.get(siteId)?.waiting ?? 0
      if (waiting >= this.#limits.queueLength) throw new PhpBusy(`${waiting} requests wait for this site`)
      const { body: stream, announcedBytes, remoteAddress: address } = request
      return await holdRequestBody({ stream, announcedBytes, siteId, address }, this.#limits.bodies)
    } catch (error) {
      if (error instanceof PhpBusy) this.#counts.refused++
      throw error
    }
  }

  #add(site: PooledSite, job: Job, { signal, whileHeld }: { signal?: AbortSignal; whileHeld?: boolean }): void {
    try {
      if (this.#held.has(site.siteId) && !whileHeld) throw new PhpBusy('another operation is using the site')
      this.#queue(site).add(job, signal)
    } catch (error) {
      if (error instanceof PhpBusy) this.#counts.refused++
      throw error
    }
  }

  #queue(site: PooledSite): SiteQueue {
    const queue = this.#laneOf(site.siteId)
    queue.site = site
    return queue
  }

  #laneOf(siteId: number): SiteQueue {
    let queue = this.#queues.get(siteId)
    if (!queue) {
      const { onAsk } = this.#limits
      queue = new SiteQueue(undefined, {
        note: (text) => this.#hear(siteId, text),
        ask: async (text) => onAsk?.(siteId, text) ?? '',
        limits: this.#limits,
        start: (asking, how) => this.#start(asking, how),
        freed: () => this.#room.freed(),
        wanted: (asking) => this.#room.isWantedFrom(asking),
        staysReady: (asking) => this.#staysReady(asking),
        isModest: (asking) => this.#room.isModest(asking),
        takePlace: () => this.#limits.places?.take(siteId, 1) ?? true,
        giveBack: () => this.#limits.places?.give(siteId, 1),
        count: (event) => {
          this.#counts[event]++
        },
      })
      this.#queues.set(siteId, queue)
    }
    return queue
  }

  async #start(queue: SiteQueue, { lowPriority, makeRoom }: StartOptions): Promise<PhpProcess> {
    const bytes = this.#runtime.usualBytes(queue.site as PhpSite)
    const started = await (makeRoom ? this.#room.reserve(queue, bytes) : this.#room.reserveFree(bytes))
    queue.use.begin()
    try {
      return await this.#startProcess(queue.site as PhpSite, { lowPriority })
    } finally {
      queue.use.end()
      started()
    }
  }

  async #startProcess(site: PhpSite, how: PhpStart): Promise<PhpProcess> {
    const started = await this.#runtime.start(site, how)
    started.onGrowth = () => this.#memory.grown()
    return started
  }

  /**
   * Whether the site may keep its process while idle. When memory is short, it still loses it to others, the idle sites
   * first.
   */
  #staysReady(queue: SiteQueue): boolean {
    const { readySites = 0, memoryBytes } = this.#limits
    const visits = queue.visits.value
    if (visits < LEAST_VISITS || this.#residentBytes() > memoryBytes / 2) return false
    // The site's own count would already have decayed when read again.
    const ahead = [...this.#queues.values()].filter((each) => each !== queue && each.visits.value > visits)
    return ahead.length < readySites
  }

  #watched(): WatchedProcess[] {
    const ofSites = [...this.#queues.values()].flatMap((queue) => {
      const { process, idle, lastUsed } = queue
      const stop = () => queue.stopProcess().then(() => this.#room.freed())
      const isModest = () => this.#room.isModest(queue)
      return process ? [{ process, isSpare: false, isModest, idleSince: idle ? lastUsed : undefined, stop }] : []
    })
    const spares = [...this.#spares].map((process) => {
      return { process, isSpare: true, isModest: () => false, idleSince: 0, stop: () => process.stop(0) }
    })
    const commands = this.#commands.processes().map((process) => {
      return { process, isSpare: false, isModest: () => false, idleSince: undefined, stop: () => process.stop(0) }
    })
    return [...ofSites, ...spares, ...commands]
  }

  #residentBytes(): number {
    return this.#watched().reduce((sum, { process }) => sum + process.lastResidentBytes, 0)
  }
}

interface LimitedVisit {
  readonly request: VisitorRequest
  readonly end: AbortController
}

/** Whether it may be an administrator's page. Only WordPress knows for certain. */
const mayAdminister = ({ path, headers }: VisitorRequest): boolean =>
  path.includes('/wp-admin/') && headers.some((text) => text.includes('wordpress_logged_in_'))

/** Whether the request may change the site and not only read it. */
const mayWrite = ({ method, headers }: VisitorRequest): boolean =>
  (method !== 'GET' && method !== 'HEAD') || headers.some((text) => text.includes('wordpress_logged_in_'))

/** Runs a task. Tries once more without the site's plugins when these answered in its place. */
async function runUnanswered<Name extends TaskName>(
  process: PhpProcess,
  name: Name,
  input: TaskInput<Name>,
  options: RunTaskOptions,
): Promise<TaskOutput<Name>> {
  try {
    return await process.runTask(name, input, options)
  } catch (error) {
    if (!(error instanceof PhpTaskError && error.isEarly && alsoWithoutPlugins.has(name))) throw error
    // If that does not help either, the site's own error is more useful.
    return await process.runTask(name, input, { ...options, isSafe: true }).catch((again) => {
      throw again instanceof PhpTaskError ? error : again
    })
  }
}
