import { PhpBusy, PhpDisplaced, type PhpProcess } from '../runtime.ts'
import { MOST_USE_MS } from './recent-use.ts'
import type { SiteQueue } from './site-queue.ts'

export interface MemoryAdmissionOptions {
  readonly queues: () => Iterable<SiteQueue>
  readonly spares: () => Iterable<PhpProcess>
  /** Processes that count, and are not stopped for others. */
  readonly commands?: () => Iterable<PhpProcess>
  /** All processes together, spares included. */
  readonly memoryBytes: number
  /** So long a site waits for room. */
  readonly waitMs: number
  /** A site that was visited within this time is in use. */
  readonly inUseMs: number
  readonly log: { warn(facts: object, message: string): void }
}

/** To be called when a process runs that was started, or could not be: it is not counted as starting any more. */
export type Started = () => void

interface Waiting {
  readonly queue: SiteQueue
  readonly since: number
  readonly bytes: number
  readonly go: (started: Started) => void
  readonly fail: (error: Error) => void
}

const LOOK_EVERY_MS = 250
/** Two sites whose use differs by less have had the same. */
const SAME_USE_MS = 1000
/** Who is idle for so long does not mind, however little he has had. */
const CLAIM_MS = 3000
/** Who has had less than this part of his fair share keeps his process between two visits. */
const MODEST = 3 / 4
/** A site that waits for so long, while all are at work, may displace one: */
const PATIENCE_MS = 2000
/** a request of such a length */
const LONG_JOB_MS = 10_000
/** of a site that has had so much more than itself. */
const MUCH_MORE_MS = 10_000

/**
 * Who may start a process when there is not memory for all. Sites that wait are served by what they have had lately less how long they
 * wait, so that a site cannot keep others out by asking more, or for longer. One that has had much loses its idle process to who has
 * had less, gives way between two requests, and at last in the middle of a long one; a modest one keeps its process while it is
 * visited, since a start costs more than its pages.
 */
export class MemoryAdmission {
  readonly #options: MemoryAdmissionOptions
  #waiting: Waiting[] = []
  /** What those that are starting are reckoned to take. */
  readonly #starting = new Set<{ readonly bytes: number }>()
  #serving = false
  #timer: NodeJS.Timeout | undefined

  constructor(options: MemoryAdmissionOptions) {
    this.#options = options
  }

  /**
   * Waits until one more process fits, and counts it as starting until its end is told.
   * @param bytes what one of its kind takes
   * @throws PhpBusy when there was no room within the time of a request
   */
  reserve(queue: SiteQueue, bytes: number): Promise<Started> {
    const { promise, resolve: go, reject: fail } = Promise.withResolvers<Started>()
    this.#waiting.push({ queue, since: performance.now(), bytes, go, fail })
    this.#timer ??= setInterval(() => void this.#serve(), LOOK_EVERY_MS).unref()
    void this.#serve()
    return promise
  }

  /** As {@link reserve}, but nobody has to give way, except who has not been visited for a while. @throws PhpBusy */
  async reserveFree(bytes: number): Promise<Started> {
    while (!this.hasRoom(bytes)) {
      const oldest = this.#longestIdle(this.#options.inUseMs)
      if (!oldest) throw new PhpBusy('no memory is free for another PHP process')
      await oldest.stopProcess()
    }
    return this.#begin(bytes)
  }

  /** As {@link reserveFree}, but a spare has to give way as well. @throws PhpBusy */
  async reserveBehind(bytes: number): Promise<Started> {
    for (const spare of this.#options.spares()) {
      if (this.hasRoom(bytes)) break
      await spare.stop(0)
    }
    return this.reserveFree(bytes)
  }

  /** As {@link reserve}, but nobody has to give way. @returns undefined when there is no room */
  take(bytes: number): Started | undefined {
    return this.hasRoom(bytes) ? this.#begin(bytes) : undefined
  }

  /** A process is gone, or has nothing to do now. */
  freed(): void {
    if (this.#waiting.length > 0) void this.#serve()
  }

  /** Whether somebody waits who has not had more than this site, which has had its part. */
  isWantedFrom(queue: SiteQueue): boolean {
    if (this.isModest(queue)) return false
    return this.#waiting.some((each) => each.queue !== queue && each.queue.use.ms < queue.use.ms + SAME_USE_MS)
  }

  /** Whether a site has had less lately than a good part of what would be fair among those that want PHP. */
  isModest({ use }: SiteQueue): boolean {
    const asking = this.#waiting.filter(({ queue }) => !queue.process).length
    const running = Math.max(1, this.#processes().length)
    return use.ms <= (MODEST * MOST_USE_MS * running) / (running + asking)
  }

  /** Nobody gets room any more. */
  stop(): void {
    for (const waiting of [...this.#waiting]) {
      this.#leave(waiting)
      waiting.fail(new PhpBusy('this host stops'))
    }
  }

  /** One process always fits, however small the memory. One that is to come takes what is usual for its kind, or here. */
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

  /** One at a time: who is stopped for somebody is gone before the next is looked for. */
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

  /** @returns whether somebody went */
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

  /** The idle site that was used longest ago: not within this time, or one that has had its part, and as much as who asks. */
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
