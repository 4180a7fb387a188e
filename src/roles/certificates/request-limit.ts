const PERIOD_MS = 60_000
/** A host with 10,000 sites needs about 200: their keys stay in its memory. */
const MOST_REQUESTS = 1_200

/** Limits how often one machine asks, so that no machine keeps a control from answering the others. */
export class RequestLimit {
  readonly #most: number
  readonly #now: () => number
  #since = 0
  readonly #counts = new Map<string, number>()

  /** @param now milliseconds since some moment */
  constructor(most = MOST_REQUESTS, now: () => number = () => performance.now()) {
    this.#most = most
    this.#now = now
  }

  /** Counts requests. @returns false if the machine has asked too often */
  take(machine: string, amount = 1): boolean {
    if (this.#now() - this.#since >= PERIOD_MS) {
      this.#counts.clear()
      this.#since = this.#now()
    }
    const count = (this.#counts.get(machine) ?? 0) + amount
    this.#counts.set(machine, count)
    return count <= this.#most
  }
}
