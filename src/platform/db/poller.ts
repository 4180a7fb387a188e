import type { ChangeFeed, Topic } from './changes.ts'

export interface PollerOptions {
  readonly changes: ChangeFeed
  /** What it is about. */
  readonly topic: Topic
  /** How often it is looked without a notice: one can be late, or lost. */
  readonly everyMs: number
  /** Between two looks, however many notices come. */
  readonly leastPauseMs: number
  /** Rejects when the database cannot be reached: a later look may. */
  readonly look: () => Promise<void>
}

/** Reads the database when something is announced, and from time to time; never twice at once. */
export class Poller {
  readonly #options: PollerOptions
  #timer: NodeJS.Timeout | undefined
  #endNotices: (() => void) | undefined
  #isLooking = false
  /** Something was announced during a look, which may have been too early for it. */
  #isAwaited = false
  #lookedAt = Number.NEGATIVE_INFINITY

  constructor(options: PollerOptions) {
    this.#options = options
  }

  /** The first look comes with a notice, or after so long. Where it has begun already: nothing. */
  begin(withinMs: number): void {
    if (this.#endNotices) return
    const { changes, topic } = this.#options
    this.#endNotices = changes.subscribe(topic, () => this.#wake(0))
    this.#wake(withinMs)
  }

  end(): void {
    clearTimeout(this.#timer)
    this.#endNotices?.()
    this.#endNotices = undefined
  }

  #wake(inMs: number): void {
    if (!this.#endNotices) return
    if (this.#isLooking) {
      this.#isAwaited = true
      return
    }
    clearTimeout(this.#timer)
    const pause = Math.max(inMs, this.#lookedAt + this.#options.leastPauseMs - performance.now())
    this.#timer = setTimeout(() => void this.#look(), pause)
  }

  async #look(): Promise<void> {
    this.#isLooking = true
    this.#isAwaited = false
    try {
      await this.#options.look()
    } catch {
      // the next one may
    } finally {
      this.#isLooking = false
      this.#lookedAt = performance.now()
      this.#wake(this.#isAwaited ? 0 : this.#options.everyMs)
    }
  }
}
