const HALF_LIFE_MS = 30_000
/** The value of something that is always busy with one job at a time. */
export const MOST_USE_MS = HALF_LIFE_MS / Math.LN2

/** How long something has been busy recently. Half a minute ago counts half, and two concurrent jobs count twice. */
export class RecentUse {
  #ms = 0
  #at = performance.now()
  #atWork = 0

  begin(): void {
    this.#count()
    this.#atWork++
  }

  end(): void {
    this.#count()
    this.#atWork--
  }

  /** Adjusts the use as if it had been busy for this much longer, or shorter. */
  add(ms: number): void {
    this.#count()
    this.#ms = Math.max(0, this.#ms + ms)
  }

  get ms(): number {
    this.#count()
    return this.#ms
  }

  #count(): void {
    const now = performance.now()
    const left = 2 ** -((now - this.#at) / HALF_LIFE_MS)
    this.#ms = this.#ms * left + this.#atWork * MOST_USE_MS * (1 - left)
    this.#at = now
  }
}

/** How often something has happened recently. A half-life ago counts half. */
export class RecentCount {
  readonly #halfLifeMs: number
  #count = 0
  #at = performance.now()

  constructor(halfLifeMs: number) {
    this.#halfLifeMs = halfLifeMs
  }

  add(): void {
    this.#count = this.value + 1
    this.#at = performance.now()
  }

  get value(): number {
    return this.#count * 2 ** -((performance.now() - this.#at) / this.#halfLifeMs)
  }
}
