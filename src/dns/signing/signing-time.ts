/** The share of the processor, for each of UDP and TCP. */
const SHARE = 0.25
/** The most time that may be used at once after a quiet period. */
const MOST_MS = 250

/**
 * Limits the time for signatures of made-up names. Each such name needs a new one, which costs ten times as much as an
 * answer. A flood of them must not block other answers.
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
