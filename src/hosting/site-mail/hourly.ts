import { HOUR_MS } from '../../platform/durations.ts'

interface Taken {
  readonly atMs: number
  readonly amount: number
}

export interface HourlyTerms {
  /** The limit for one key. 0 allows none. */
  readonly each: number
  readonly all: number
}

/** Counts how much each key, and all together, have taken within the last hour. */
export class Hourly {
  readonly #terms: HourlyTerms
  readonly #nowMs: () => number
  readonly #byKey = new Map<number, Taken[]>()

  constructor(terms: HourlyTerms, nowMs = () => performance.now()) {
    this.#terms = terms
    this.#nowMs = nowMs
  }

  /** @returns the limit that is reached, in which case nothing is counted; undefined when there was room */
  take(key: number, amount: number): 'each' | 'all' | undefined {
    this.#forget()
    const own = this.#byKey.get(key) ?? []
    if (sum(own) + amount > this.#terms.each) return 'each'
    if (sum([...this.#byKey.values()].flat()) + amount > this.#terms.all) return 'all'
    this.#byKey.set(key, [...own, { atMs: this.#nowMs(), amount }])
    return undefined
  }

  #forget(): void {
    const since = this.#nowMs() - HOUR_MS
    for (const [key, taken] of this.#byKey) {
      if ((taken[0] as Taken).atMs > since) continue
      const left = taken.filter(({ atMs }) => atMs > since)
      if (left.length > 0) this.#byKey.set(key, left)
      else this.#byKey.delete(key)
    }
  }
}

const sum = (taken: readonly Taken[]): number => taken.reduce((all, { amount }) => all + amount, 0)
