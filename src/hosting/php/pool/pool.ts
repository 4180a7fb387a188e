import type { Readable } from 'node:stream'
import type { Budget } from '../../../platform/budgets/budget.ts'
import { Commands } from '../commands.ts'
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
  PhpTaskError,
  PhpTimeout,
  type RunTaskOptions,
  type TakeTurn,
} from '../runtime.ts'
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
  /** From the start of PHP's work on a request to its end. */
  readonly requestMs: number
  readonly taskMs: number
  /** So many sites, those with the most visits, keep their process when nobody comes, as long as half of the memory is free. Default 0. */
  readonly readySites?: number
  /** All processes together, spares included. */
  readonly memoryBytes: number
  /** Bodies of visitors' requests. */
  readonly bodies: BodyLimits
  /** For requests of a site beside its first, where PHP works on several at once; default: as many as PHP does. */
  readonly places?: Budget
  readonly log?: { warn(facts: object, message: string): void }
  /** A visitor's request was ended, or never answered, because it took too long. */
  readonly onCutOff?: (site: PooledSite, request: VisitorRequest, error: PhpTimeout) => void
  /** PHP of a site was at work: on something that may have written its files, or on a page for a visitor. */
  readonly onWorked?: (siteId: number, kind: 'write' | 'read') => void
  /** What a site says while it works; see `PhpProcess.onNote`. */
  readonly onNote?: (siteId: number, text: string) => void
  /** What a site asks while it works; see `PhpProcess.onAsk`. */
  readonly onAsk?: (siteId: number, text: string) => Promise<string>
}

/** A visitor's request as the host got it: its body has not been read, its length may be unknown. */
export interface VisitorRequest extends Omit<PhpRequest, 'bodyBytes'> {
  readonly body: Readable | null
  /** Length of the body; undefined when the visitor has not said. */
  readonly announcedBytes?: number | undefined
}

export interface TaskOptions {
  readonly timeoutMs?: number
  /** It may take so long where nobody waits for the site's PHP; default: no longer than `timeoutMs`. */
  readonly longMs?: number
  /**
   * Nobody waits for the result: a process that is started for it has the lowest priority and ends right after, unless a
   * visitor came meanwhile; one that runs already is not kept alive by it.
   */
  readonly background?: boolean
  /** Default true; false: PhpBusy rather than wait for memory, or take it from a site in use within the last minute. */
  readonly makeRoom?: boolean
  /** It belongs to the work for which the site is held. */
  readonly whileHeld?: boolean
}

export interface VisitOptions extends Pick<TaskOptions, 'whileHeld'> {
  /** The site's own PHP has sent it, and waits for the answer: it comes first. */
  readonly isOwn?: boolean
  /** Stead judges the site by it: time in which PHP had no processor does not count, as for tasks. */
  readonly isJudged?: boolean
  /** Called when the request turns out to be a page of an administrator, which may take longer. */
  readonly onLong?: () => void
}

/** What PHP's command line is given. */
export interface CommandRun {
  readonly args: readonly string[]
  /** Answers what the command asks; undefined: the question is for others. */
  readonly onAsk?: (text: string) => Promise<string> | undefined
}

/** A command, and its process. */
export interface RunningCommand extends PhpCommand {
  readonly exited: Promise<unknown>
  kill(error: Error): void
  /** It may have changed the database. */
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
/** A page of an administrator (an import, a backup) may take so many times the time of a request. */
const ADMINISTRATOR_TIMES = 5
/** What PHP says when WordPress knows an administrator in a page of the dashboard (`tasks/prepend.php`). */
const ADMINISTERS = '{"administers":true}'
/** A site that has had fewer visits lately is none of the most visited, however few the others have. */
const LEAST_VISITS = 10
/** Processes of sites whose visitors have been announced, and have not come. */
const MOST_WOKEN = 4
/** A command that runs for longer has the lowest priority for the processor, */
const LONG_COMMAND_MS = 10_000
/** but not any more once visitors have waited for so long for one of its turns at the database. */
const HASTE_MS = 200

/** The PHP processes of a host by site: started on demand, each with its queue, within a memory budget. */
export class PhpPool {
  readonly #runtime: PhpRuntime
  readonly #limits: PoolLimits
  readonly #queues = new Map<number, SiteQueue>()
  readonly #spares = new Set<PhpProcess>()
  readonly #memory: MemoryWatch
  readonly #counts = { crash: 0, timeout: 0, replace: 0, refused: 0 }
  readonly #room: MemoryAdmission
  readonly #commands = new Commands()
  /** Sites whose PHP runs for the work that is done on them, and for nothing else; with who holds them. */
  readonly #held = new Map<number, Set<string>>()
  /** By site: requests for the dashboard that run, to be told when WordPress knows an administrator in one of them. */
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
   * Runs a visitor's request on the site's PHP, which is started if need be. Resolves with the head; the body follows while
   * PHP runs.
   * @param signal fires when the visitor went away: a request that still waits is dropped
   * @throws PhpBusy, PhpWaitsForItself, PhpTimeout, PhpCrashed, PhpAbandoned, PhpBodyTooLarge
   */
  async handle(
    site: PooledSite,
    request: VisitorRequest,
    signal?: AbortSignal,
    { whileHeld, isOwn, isJudged, onLong }: VisitOptions = {},
  ): Promise<PhpResponse> {
    const held = await this.#takeIn(site, request)
    const answer = Promise.withResolvers<PhpResponse>()
    const job: Job = {
      // somebody's operation is done to its end
      interruptible: !isJudged,
      isShared: true,
      isOwn,
      isVisit: !isOwn && !isJudged,
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
      // The head is here only after the whole body went in.
      await held?.release()
    }
  }

  /**
   * Starts the site's PHP for a visitor who is about to come, where there is memory that nobody has to give back for it. It ends soon when
   * none comes, and few are started so at a time: who announces visitors to thousands of sites starts no more.
   */
  wake(site: PooledSite): void {
    if (this.#held.has(site.siteId) || !this.#room.hasRoom(this.#runtime.usualBytes(site))) return
    const woken = [...this.#queues.values()].filter((queue) => queue.isWoken).length
    if (woken < MOST_WOKEN) this.#queue(site).wake()
  }

  /**
   * Runs one of Stead's tasks in the site's PHP, in turn with its requests; but for some ({@link besideVisitors}) nothing else is at work. What it returns is the site's word, of the form that the task has.
   * @throws PhpTaskError with PHP's message, and for an answer of another form; PhpBusy, PhpTimeout, PhpCrashed
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
      // somebody's operation is done to its end
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
   * Runs PHP's command line in a process of its own, behind visitors in priority, memory and their turn at the database. Who is given it
   * kills the process when nobody needs it any more.
   * @throws PhpBusy when the site is held, there is no memory to spare, or too many commands run
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
    // a short one is answered at once, a long one falls behind
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
    // it was for this one
    const over = () => void process.stop(0)
    command.finished.then(over, over)
    return { ...command, kill: (error) => process.kill(error), exited: process.exited, wrote: () => hasWritten }
  }

  /** A command's turns at the database, each between two of the site's requests; as long as one takes the site's visitors wait. */
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
        // the site's visitors wait for it
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
   * Starts a process that is no site's yet; it counts against the memory budget.
   * @param options.lowPriority behind all others at the processor; unless somebody waits for what it does
   * @returns undefined when there is no memory to spare: nobody is stopped for it
   */
  async startSpare(site: PhpSite, { lowPriority = true } = {}): Promise<PhpProcess | undefined> {
    const started = this.#room.take(this.#runtime.usualBytes(site))
    if (!started) return undefined
    try {
      const spare = await this.#startProcess(site, { lowPriority })
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
   * Makes a spare, which has moved in already, the process of a site. Must come before the site's first request.
   * @returns false when the site had a process of its own by then; the spare is stopped
   */
  async adopt(site: PooledSite, spare: PhpProcess): Promise<boolean> {
    this.#spares.delete(spare)
    return this.#queue(site).adopt(spare)
  }

  /**
   * Does something with a site's data between two of its requests, before all that wait: nothing of its PHP works meanwhile, and none is
   * started, not even for it. As long as it takes the site's visitors wait.
   * @param endsProcess its process ends first: what it knows of its data would be wrong after it
   * @throws PhpCrashed when the site is being stopped; else what the work throws
   */
  async between<Result>(siteId: number, work: () => Promise<Result>, { endsProcess = false } = {}): Promise<Result> {
    const pause = () => this.#laneOf(siteId).between(work, { endsProcess })
    return endsProcess ? this.#commands.without(siteId, pause) : pause()
  }

  /** Ends the site's process when what it does is done; the next request starts a new one. */
  async restart(siteId: number): Promise<void> {
    await this.#queues.get(siteId)?.restart()
  }

  /** Ends the site's processes and forgets the site; what waits fails. A later request starts over. */
  async stop(siteId: number, graceMs?: number): Promise<void> {
    await this.#commands.endOfSite(siteId, 'the site was stopped')
    const queue = this.#queues.get(siteId)
    // Known until its process is gone, so that no request starts another beside it.
    await queue?.stop(graceMs)
    if (this.#queues.get(siteId) === queue) this.#queues.delete(siteId)
    this.#room.freed()
  }

  /**
   * Ends the site's process, and starts none for it until `release` but for tasks with `whileHeld`. Called again, such a task's process is
   * ended, too. It lasts as long as this Stead process: whose work goes on after a crash calls it again.
   * @param by whoever else holds the site does so until it releases it itself
   */
  async hold(siteId: number, graceMs?: number, by = 'operation'): Promise<void> {
    this.#held.set(siteId, new Set([...(this.#held.get(siteId) ?? []), by]))
    await this.stop(siteId, graceMs)
  }

  /** Ends what {@link hold} began. */
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

  /** Process id of the site's PHP, if it runs. */
  pidOf(siteId: number): number | undefined {
    return this.#queues.get(siteId)?.process?.pid
  }

  /** Sites whose PHP runs, with their site directories. */
  running(): { siteId: number; siteDirectory: string }[] {
    return [...this.#queues].flatMap(([siteId, { process, site }]) =>
      process && site ? [{ siteId, siteDirectory: site.siteDirectory }] : [],
    )
  }

  /** Whether PHP is at work for a visitor, of any site. */
  servesVisitors(): boolean {
    for (const queue of this.#queues.values()) if (queue.interruptibleMs > 0) return true
    return false
  }

  /** Whether PHP of any site starts, or works for somebody's operation. */
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
    { request, end, isJudged, onLong }: Pick<VisitOptions, 'isJudged' | 'onLong'> & LimitedVisit,
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

  /** Says whether what begins now may go on: so long, and as long as nothing waits for the site's PHP. */
  #whileNobodyWaits(siteId: number, longMs: number): () => boolean {
    const startedAt = performance.now()
    return () => performance.now() - startedAt < longMs && (this.#queues.get(siteId)?.waiting ?? 0) === 0
  }

  /** The body of a request that gets a place in the queue as far as can be told: nothing of it is read for others. */
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

  /** Who needs the memory gets it all the same: a site that nobody visits goes first. */
  #staysReady(queue: SiteQueue): boolean {
    const { readySites = 0, memoryBytes } = this.#limits
    const visits = queue.visits.value
    if (visits < LEAST_VISITS || this.#residentBytes() > memoryBytes / 2) return false
    // its own would be smaller already when it is read again
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

/** Whether it may be an administrator's page: WordPress knows whether it is. */
const mayAdminister = ({ path, headers }: VisitorRequest): boolean =>
  path.includes('/wp-admin/') && headers.some((text) => text.includes('wordpress_logged_in_'))

/** Whether somebody does something with the site, rather than read it. */
const mayWrite = ({ method, headers }: VisitorRequest): boolean =>
  (method !== 'GET' && method !== 'HEAD') || headers.some((text) => text.includes('wordpress_logged_in_'))

/** Runs a task, and once more without the site's plugins where those answered in its place. */
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
    // what the site itself says is worth more, where that does not help either
    return await process.runTask(name, input, { ...options, isSafe: true }).catch((again) => {
      throw again instanceof PhpTaskError ? error : again
    })
  }
}
