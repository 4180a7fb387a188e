/** How slowly a body may come: in each `windowMs` for which its visitor is waited for, so many bytes at least. */
export interface PaceLimits {
  readonly windowMs: number
  readonly leastBytes: number
}

/**
 * Watches over one body. However large it is, it may take its time as long as it comes; what counts is the time for which the
 * visitor is waited for, not that in which a host does not take more.
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

  /** From now on nothing goes on before the visitor sends more. */
  waits(): void {
    if (this.#waitsSinceMs !== undefined) return
    this.#waitsSinceMs = this.#now()
    this.#timer = setTimeout(this.#onTooSlow, Math.max(0, this.#limits.windowMs - this.#waitedMs))
  }

  /** So much has come, and is worked on. */
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
