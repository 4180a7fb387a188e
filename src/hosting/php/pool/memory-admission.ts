import { PhpBusy, PhpDisplaced, type PhpProcess } from '../runtime.ts'
import { MOST_USE_MS } from './recent-use.ts'
import type { SiteQueue } from './site-queue.ts'

export interface MemoryAdmissionOptions {
  readonly queues: () => Iterable<SiteQueue>
  readonly spares: () => Iterable<PhpProcess>
  /** Processes that count, but are not stopped for others. */
  readonly commands?: () => Iterable<PhpProcess>
  /** Limit for all processes together, spares included. */
  readonly memoryBytes: number
  /** How long a site waits for memory. */
  readonly waitMs: number
  /** A site that was visited within this time is in use. */
  readonly inUseMs: number
  readonly log: { warn(facts: object, message: string): void }
}

/** To be called when the started process runs or has failed to start. From then on it no longer counts as starting. */
export type Started = () => void

interface Waiting {
  readonly queue: SiteQueue
  readonly since: number
  readonly bytes: number
  readonly go: (started: Started) => void
  readonly fail: (error: Error) => void
}

const LOOK_EVERY_MS = 250
/** Sites whose use differs by less than this count as equal. */
const SAME_USE_MS = 1000
/** A site that has been idle this long may lose its process, however little it has used. */
const CLAIM_MS = 3000
/** A site that has used less than this part of its fair share keeps its process between two visits. */
const MODEST = 3 / 4
/** After waiting this long while all are busy, a site may displace a request */
const PATIENCE_MS = 2000
/** that has run this long, */
const LONG_JOB_MS = 10_000
/** of a site that has used this much more. */
const MUCH_MORE_MS = 10_000

/**
 * Decides which site may start a process when there is not enough memory for all. Waiting sites are served by their
 * recent use minus their waiting time, so that a site cannot keep others out with more or longer requests. A site with
 * much use loses its idle process to one with less, yields between two requests, and as a last resort in the middle of
 * a long one. A modest site keeps its process while it has visitors, because a start costs more than its pages.
 */
export class MemoryAdmission {
  readonly #options: MemoryAdmissionOptions
  #waiting: Waiting[] = []
  /** Estimated memory of processes that are starting. */
  readonly #starting = new Set<{ readonly bytes: number }>()
  #serving = false
  #timer: NodeJS.Timeout | undefined

  constructor(options: MemoryAdmissionOptions) {
    this.#options = options
  }

  /**
   * Waits until one more process fits, and counts it as starting until the returned function is called.
   * @param bytes typical size of its kind
   * @throws PhpBusy when no memory became free within the time limit of a request
   */
  reserve(queue: SiteQueue, bytes: number): Promise<Started> {
    const { promise, resolve: go, reject: fail } = Promise.withResolvers<Started>()
    this.#waiting.push({ queue, since: performance.now(), bytes, go, fail })
    this.#timer ??= setInterval(() => void this.#serve(), LOOK_EVERY_MS).unref()
    void this.#serve()
    return promise
  }

  /** Does the same as {@link reserve}, but stops only sites without recent visits. @throws PhpBusy */
  async reserveFree(bytes: number): Promise<Started> {
    while (!this.hasRoom(bytes)) {
      const oldest = this.#longestIdle(this.#options.inUseMs)
      if (!oldest) throw new PhpBusy('no memory is free for another PHP process')
      await oldest.stopProcess()
    }
    return this.#begin(bytes)
  }

  /** Does the same as {@link reserveFree}, but also stops spares. @throws PhpBusy */
  async reserveBehind(bytes: number): Promise<Started> {
    for (const spare of this.#options.spares()) {
      if (this.hasRoom(bytes)) break
      await spare.stop(0)
    }
    return this.reserveFree(bytes)
  }

  /** Does the same as {@link reserve}, but stops nothing. @returns undefined when memory is short */
  take(bytes: number): Started | undefined {
    return this.hasRoom(bytes) ? this.#begin(bytes) : undefined
  }

  /** Must be called when a process has ended or become idle. */
  freed(): void {
    if (this.#waiting.length > 0) void this.#serve()
  }

  /** Whether a waiting site has used no more than this one, which has had its share. */
  isWantedFrom(queue: SiteQueue): boolean {
    if (this.isModest(queue)) return false
    return this.#waiting.some((each) => each.queue !== queue && each.queue.use.ms < queue.use.ms + SAME_USE_MS)
  }

  /** Whether a site has recently used less than a certain part of its fair share among the sites that want PHP. */
  isModest({ use }: SiteQueue): boolean {
    const asking = this.#waiting.filter(({ queue }) => !queue.process).length
    const running = Math.max(1, this.#processes().length)
    return use.ms <= (MODEST * MOST_USE_MS * running) / (running + asking)
  }

  /** Rejects everything that waits. */
  stop(): void {
    for (const waiting of [...this.#waiting]) {
      this.#leave(waiting)
      waiting.fail(new PhpBusy('this host stops'))
    }
  }

  /**
   * Whether a process fits. One always does, however little memory there is. A future process counts with the typical
   * size of its kind, or the average here if that is larger.
   */
  hasRoom(bytes: number): boolean {
    const processes = this.#processes()
    if (processes.length + this.#starting.size === 0) return true
    const resident = processes.reduce((sum, each) => sum + each.lastResidentBytes, 0)
    const usual = processes.length > 0 ? resident / processes.length : 0
    const toCome = [{ bytes }, ...this.#starting].reduce((sum, each) => sum + Math.max(each.bytes, usual), 0)
    return resident + toCome <= this.#options.memoryBytes
  }

  #begin(bytes: number): Started {
    const one = { bytes }
    this.#starting.add(one)
    return () => void this.#starting.delete(one)
  }

  /** Serves one at a time: a process that is stopped for a site must end before the next is chosen. */
  async #serve(): Promise<void> {
    if (this.#serving) return
    this.#serving = true
    try {
      this.#refuseTheLate()
      for (let next = this.#next(); next; next = this.#next()) {
        if (this.hasRoom(next.bytes)) {
          this.#leave(next)
          next.go(this.#begin(next.bytes))
        } else if (!(await this.#makeRoomFor(next))) break
      }
    } finally {
      this.#serving = false
    }
  }

  /** @returns whether a process was stopped */
  async #makeRoomFor({ queue, since }: Waiting): Promise<boolean> {
    const unused = this.#longestIdle(this.#options.inUseMs)
    const [spare] = this.#options.spares()
    if (unused) await unused.stopProcess()
    else if (spare) await spare.stop(0)
    else {
      const idle = this.#longestIdle(CLAIM_MS, queue)
      if (idle) await idle.stopProcess()
      else if (performance.now() - since >= PATIENCE_MS) return this.#displaceFor(queue)
      else return false
    }
    return true
  }

  /**
   * Returns the least recently used idle site: one unused for this long, or one that has had its share and used as much
   * as the asking site.
   */
  #longestIdle(forMs: number, asking?: SiteQueue): SiteQueue | undefined {
    const before = performance.now() - forMs
    const goes = (queue: SiteQueue) =>
      queue.process &&
      queue.idle &&
      (queue.lastUsed <= before || (asking && !this.isModest(queue) && queue.use.ms + SAME_USE_MS >= asking.use.ms))
    return [...this.#options.queues()].filter(goes).sort((a, b) => a.lastUsed - b.lastUsed)[0]
  }

  async #displaceFor(queue: SiteQueue): Promise<boolean> {
    const least = queue.use.ms + MUCH_MORE_MS
    const others = [...this.#options.queues()].filter(
      (each) => each.process && each.interruptibleMs >= LONG_JOB_MS && each.use.ms >= least,
    )
    const most = others.sort((a, b) => b.use.ms - a.use.ms)[0]
    if (!most?.process) return false
    const { process } = most
    this.#options.log.warn(
      { pid: process.pid, jobMs: Math.round(most.interruptibleMs) },
      'stopping a long request, because PHP of other sites waits for memory and this site used most of it',
    )
    process.kill(new PhpDisplaced('other sites waited for memory, and this request took long'))
    await process.exited
    return true
  }

  #next(): Waiting | undefined {
    const claim = ({ queue, since }: Waiting) => queue.use.ms + since
    return this.#waiting.toSorted((a, b) => claim(a) - claim(b))[0]
  }

  #refuseTheLate(): void {
    const before = performance.now() - this.#options.waitMs
    for (const late of this.#waiting.filter(({ since }) => since <= before)) {
      this.#leave(late)
      late.fail(new PhpBusy('all PHP processes that fit into memory are at work'))
    }
  }

  #leave(waiting: Waiting): void {
    this.#waiting = this.#waiting.filter((each) => each !== waiting)
    if (this.#waiting.length > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #processes(): PhpProcess[] {
    const ofSites = [...this.#options.queues()].flatMap((queue) => queue.process ?? [])
    return [...ofSites, ...this.#options.spares(), ...(this.#options.commands?.() ?? [])]
  }
}
