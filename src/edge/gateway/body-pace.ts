/** How slowly a body may arrive: at least this many bytes in each `windowMs` of waiting for the visitor. */
export interface PaceLimits {
  readonly windowMs: number
  readonly leastBytes: number
}

/**
 * Watches one body. A body of any size may take its time as long as it keeps arriving. Only the time spent waiting for
 * the visitor counts, not the time in which a host does not read.
 */
export class BodyPace {
  readonly #limits: PaceLimits
  readonly #onTooSlow: () => void
  readonly #now: () => number
  #timer: NodeJS.Timeout | undefined
  #waitsSinceMs: number | undefined
  #waitedMs = 0
  #bytes = 0

  constructor(limits: PaceLimits, onTooSlow: () => void, now = () => performance.now()) {
    this.#limits = limits
    this.#onTooSlow = onTooSlow
    this.#now = now
  }

  /** From now on, only the visitor can continue by sending more. */
  waits(): void {
    if (this.#waitsSinceMs !== undefined) return
    this.#waitsSinceMs = this.#now()
    this.#timer = setTimeout(this.#onTooSlow, Math.max(0, this.#limits.windowMs - this.#waitedMs))
  }

  /** Called when this much has arrived and is being processed. */
  came(bytes: number): void {
    clearTimeout(this.#timer)
    if (this.#waitsSinceMs !== undefined) this.#waitedMs += this.#now() - this.#waitsSinceMs
    this.#waitsSinceMs = undefined
    this.#bytes += bytes
    if (this.#bytes < this.#limits.leastBytes) return
    this.#bytes = 0
    this.#waitedMs = 0
  }

  end(): void {
    clearTimeout(this.#timer)
  }
}
