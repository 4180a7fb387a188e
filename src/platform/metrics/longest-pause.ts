import { monitorEventLoopDelay } from 'node:perf_hooks'

/** The sampling interval, and so the precision of a pause. */
const RESOLUTION_MS = 20
/** A reader that reads once per window misses no pause. */
export const WINDOW_MS = 60_000

/** The part of Node's histogram that is used here: nanoseconds between two samples. */
interface Pauses {
  readonly max: number
  reset(): void
}

/** Returns Node's own histogram, which samples for the life of the process. */
function pausesOfProcess(): Pauses {
  const pauses = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  pauses.enable()
  return pauses
}

/** Measures the longest time in which a process did nothing else. Visitors and leases wait as long. */
export class LongestPause {
  readonly #pauses: Pauses
  readonly #now: () => number
  #begunAt: number
  /** The value of the window before. */
  #before = 0

  constructor(pauses: Pauses = pausesOfProcess(), now: () => number = () => performance.now()) {
    this.#pauses = pauses
    this.#now = now
    this.#begunAt = now()
  }

  /** Returns the value of the last minute or two, which does not depend on the number of readers. */
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
