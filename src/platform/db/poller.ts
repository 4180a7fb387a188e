import type { ChangeFeed, Topic } from './changes.ts'

export interface PollerOptions {
  readonly changes: ChangeFeed
  /** The topic whose notifications trigger a look. */
  readonly topic: Topic
  /** The interval without notifications, which can be late or lost. */
  readonly everyMs: number
  /** The shortest pause between two looks, however many notifications come. */
  readonly leastPauseMs: number
  /** Rejects when the database is unreachable. A later look may succeed. */
  readonly look: () => Promise<void>
}

/** Reads the database when a change is announced, and from time to time, never twice at once. */
export class Poller {
  readonly #options: PollerOptions
  #timer: NodeJS.Timeout | undefined
  #endNotices: (() => void) | undefined
  #isLooking = false
  /** Whether a change was announced during a look, which may have been too early to see it. */
  #isAwaited = false
  #lookedAt = Number.NEGATIVE_INFINITY

  constructor(options: PollerOptions) {
    this.#options = options
  }

  /**
   * Starts polling: the first look comes with a notification, or within this time. Does nothing if it has already
   * started.
   */
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
      // The next look may succeed.
    } finally {
      this.#isLooking = false
      this.#lookedAt = performance.now()
      this.#wake(this.#isAwaited ? 0 : this.#options.everyMs)
    }
  }
}
