import { PhpCrashed, type PhpProcess } from '../runtime.ts'

/** A process that counts, and the cost of ending it. */
export interface WatchedProcess {
  readonly process: PhpProcess
  /** When it was last needed. Undefined while it is busy. */
  readonly idleSince: number | undefined
  /** Whether it belongs to no site yet. */
  readonly isSpare: boolean
  /** Whether its site has used little recently. */
  isModest(): boolean
  /** Ends it between two jobs. */
  stop(): Promise<void>
}

export interface MemoryWatchOptions {
  readonly processes: () => readonly WatchedProcess[]
  /** Limit for all processes together. */
  readonly memoryBytes: number
  /** A single process is ended immediately at twice this size. */
  readonly processMemoryBytes: number
  /** A site that was visited within this time is in use. */
  readonly inUseMs: number
  readonly log: { warn(facts: object, message: string): void }
}

const EVERY_MS = 200
/**
 * While less than half of the memory is in use, only one check in this many runs, because native PHP does not report
 * its growth.
 */
const ONE_OF = 5
/** A busy process with this many times the memory of an idle one goes before it. */
const MUCH_MORE = 1.5

/**
 * Keeps processes within their memory while they run. Growth that PHP reports counts immediately (`grown`). Everything
 * else is measured every second, or every 200 ms once half of the memory is in use. Over the budget, processes end in
 * this order: one that nobody has needed for a while, a spare, an idle one over its fair share, then the largest. An
 * idle one over its share is spared if its site is modest, or if a busy one has half as much again. The largest is over
 * its share too, because all together are over theirs. A neighbor in use that takes little is never ended.
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

  /** Must be called when a process has requested more memory. */
  grown(): void {
    const left = this.#options.processes().filter(({ process }) => !this.#ending.has(process))
    // One process always fits, however small the budget.
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
  // Ending an idle process loses no page, but costs a restart, which should not be for the sake of a greedy site.
  const largestIdle = largestOf(idle)
  const isGreedy = largest.process.lastResidentBytes >= MUCH_MORE * largestIdle.process.lastResidentBytes
  return isGreedy ? largest : largestIdle
}

const largestOf = (processes: readonly WatchedProcess[]): WatchedProcess =>
  processes.reduce((a, b) => (b.process.lastResidentBytes > a.process.lastResidentBytes ? b : a))

const sumOf = (processes: readonly WatchedProcess[]): number =>
  processes.reduce((sum, { process }) => sum + process.lastResidentBytes, 0)

const inMb = (bytes: number): string => `${Math.round(bytes / (1 << 20))} MB`
