import { PhpCrashed, type PhpProcess } from '../runtime.ts'

/** A process that counts, and what its end costs. */
export interface WatchedProcess {
  readonly process: PhpProcess
  /** When somebody last needed it; undefined while it is at work. */
  readonly idleSince: number | undefined
  /** It belongs to no site yet. */
  readonly isSpare: boolean
  /** Its site has had little lately. */
  isModest(): boolean
  /** Ends it between two jobs. */
  stop(): Promise<void>
}

export interface MemoryWatchOptions {
  readonly processes: () => readonly WatchedProcess[]
  /** All processes together. */
  readonly memoryBytes: number
  /** One process is ended at once when it has twice this. */
  readonly processMemoryBytes: number
  /** A site that was visited within this time is in use. */
  readonly inUseMs: number
  readonly log: { warn(facts: object, message: string): void }
}

const EVERY_MS = 200
/** Of these looks, as long as less than half of the memory is in use: native PHP does not tell when it grows. */
const ONE_OF = 5
/** A process at work that has so many times what an idle one has goes before it. */
const MUCH_MORE = 1.5

/**
 * Keeps the processes within their memory while they run. What PHP asks for is known at once (`grown`), everything else that a
 * process takes is found out every second, or every 200 ms once half of the memory is in use. Who goes, when all have more than the budget: a process that nobody has needed for a
 * while, a spare, an idle one that is over its fair share (unless its site is modest, or one at work has half as much again), then the
 * largest; that is over its share too, since all together are over theirs. A neighbour in use that takes little never goes.
 */
export class MemoryWatch {
  readonly #options: MemoryWatchOptions
  readonly #ending = new WeakSet<PhpProcess>()
  readonly #timer: NodeJS.Timeout
  #looking = false

  constructor(options: MemoryWatchOptions) {
    this.#options = options
    let ticks = 0
    this.#timer = setInterval(() => {
      if (ticks++ % ONE_OF === 0 || 2 * sumOf(options.processes()) > options.memoryBytes) void this.#look()
    }, EVERY_MS).unref()
  }

  /** A process has asked for more memory. */
  grown(): void {
    const left = this.#options.processes().filter(({ process }) => !this.#ending.has(process))
    // one always fits, however small the budget
    while (left.length > 1 && sumOf(left) > this.#options.memoryBytes) {
      const next = nextToGo(left, performance.now() - this.#options.inUseMs, this.#options.memoryBytes / left.length)
      left.splice(left.indexOf(next), 1)
      this.#end(next)
    }
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  async #look(): Promise<void> {
    if (this.#looking) return
    this.#looking = true
    try {
      const most = 2 * this.#options.processMemoryBytes
      for (const { process } of this.#options.processes())
        if ((await process.residentBytes()) > most)
          process.kill(new PhpCrashed(`PHP used more than ${inMb(most)} of memory`))
      this.grown()
    } finally {
      this.#looking = false
    }
  }

  #end(watched: WatchedProcess): void {
    const { process, idleSince, isSpare } = watched
    const { memoryBytes, log } = this.#options
    this.#ending.add(process)
    const facts = { pid: process.pid, bytes: process.lastResidentBytes, budgetBytes: memoryBytes }
    if (idleSince !== undefined) {
      log.warn({ ...facts, isSpare }, 'stopping an idle PHP process, because PHP exceeds its memory limit')
      void watched.stop()
      return
    }
    log.warn(facts, 'stopping the largest PHP process, because PHP exceeds its memory limit')
    const has = inMb(process.lastResidentBytes)
    process.kill(
      new PhpCrashed(`PHP used ${has} of memory when all sites together used more than ${inMb(memoryBytes)}`),
    )
  }
}

function nextToGo(processes: readonly WatchedProcess[], unusedSince: number, fairBytes: number): WatchedProcess {
  const unused = processes.filter(({ idleSince, isSpare }) => !isSpare && (idleSince ?? Infinity) < unusedSince)
  if (unused.length > 0) return unused.reduce((a, b) => ((b.idleSince as number) < (a.idleSince as number) ? b : a))
  const spare = processes.find(({ isSpare }) => isSpare)
  if (spare) return spare
  const largest = largestOf(processes)
  const idle = processes.filter(
    ({ process, idleSince, isModest }) =>
      idleSince !== undefined && process.lastResidentBytes > fairBytes && !isModest(),
  )
  if (idle.length === 0) return largest
  // nobody loses a page by it; but a start, which is not to be had for a greedy site
  const largestIdle = largestOf(idle)
  const isGreedy = largest.process.lastResidentBytes >= MUCH_MORE * largestIdle.process.lastResidentBytes
  return isGreedy ? largest : largestIdle
}

const largestOf = (processes: readonly WatchedProcess[]): WatchedProcess =>
  processes.reduce((a, b) => (b.process.lastResidentBytes > a.process.lastResidentBytes ? b : a))

const sumOf = (processes: readonly WatchedProcess[]): number =>
  processes.reduce((sum, { process }) => sum + process.lastResidentBytes, 0)

const inMb = (bytes: number): string => `${Math.round(bytes / (1 << 20))} MB`
