import { monitorEventLoopDelay } from 'node:perf_hooks'

/** Looked at so often: a pause is known that exactly. */
const RESOLUTION_MS = 20
/** Whoever looks once in as long misses none. */
export const WINDOW_MS = 60_000

/** What of Node's histogram is used here: nanoseconds between two looks. */
interface Pauses {
  readonly max: number
  reset(): void
}

/** Node's own, which looks as long as the process lives. */
function pausesOfProcess(): Pauses {
  const pauses = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  pauses.enable()
  return pauses
}

/** The longest time in which a process came to nothing else: visitors and leases wait as long. */
export class LongestPause {
  readonly #pauses: Pauses
  readonly #now: () => number
  #begunAt: number
  /** Of the window before. */
  #before = 0

  constructor(pauses: Pauses = pausesOfProcess(), now: () => number = () => performance.now()) {
    this.#pauses = pauses
    this.#now = now
    this.#begunAt = now()
  }

  /** Of the last minute or two. How many look, and how often, changes nothing. */
  get seconds(): number {
    const now = this.#now()
    const current = Math.max(0, this.#pauses.max / 1e9 - RESOLUTION_MS / 1000)
    const longest = Math.max(this.#before, current)
    if (now - this.#begunAt >= WINDOW_MS) {
      this.#before = current
      this.#begunAt = now
      this.#pauses.reset()
    }
    return longest
  }
}
