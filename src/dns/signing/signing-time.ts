/** Of the processor, for each of UDP and TCP. */
const SHARE = 0.25
/** What may be taken at once after a quiet time. */
const MOST_MS = 250

/**
 * Bounds the time that goes into signatures for what clients make up (names that there are not): each is a new one, and costs ten
 * times what an answer costs. A flood of them is not to take the others' answers with it.
 */
export class SigningTime {
  readonly #clock: () => number
  readonly #leftMs = { udp: MOST_MS, tcp: MOST_MS }
  #atMs: number

  constructor(clock: () => number = performance.now.bind(performance)) {
    this.#clock = clock
    this.#atMs = clock()
  }

  /** Does the work, unless its time is used up. */
  within<Result>(transport: 'udp' | 'tcp', work: () => Result): Result | undefined {
    const begun = this.#clock()
    const more = (begun - this.#atMs) * SHARE
    this.#atMs = begun
    for (const each of ['udp', 'tcp'] as const) this.#leftMs[each] = Math.min(MOST_MS, this.#leftMs[each] + more)
    if (this.#leftMs[transport] <= 0) return undefined
    const result = work()
    this.#leftMs[transport] -= this.#clock() - begun
    return result
  }
}
