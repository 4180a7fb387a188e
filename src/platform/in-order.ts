interface Begun {
  readonly weight: number
  /** Runs the follow-up of finished work. Rejects if the work does. */
  readonly end: () => Promise<void>
  readonly work: Promise<unknown>
}

/** Work that continues while more is begun. Its follow-ups run in the order of the work, in the next caller. */
export class InOrder {
  readonly #begun: Begun[] = []
  readonly #most: number
  #weight = 0

  /** @param most the largest total weight in progress */
  constructor(most: number) {
    this.#most = most
  }

  /**
   * Waits until there is capacity for more.
   * @throws errors of earlier work, or of its follow-up
   */
  async begin<Result>(weight: number, work: Promise<Result>, then: (result: Result) => Promise<void>): Promise<void> {
    // It is awaited in its turn, which may never come.
    work.catch(() => {})
    this.#begun.push({ weight, work, end: async () => then(await work) })
    this.#weight += weight
    while (this.#weight >= this.#most) await this.#endFirst()
  }

  /**
   * Waits for all work.
   * @throws errors of any of it
   */
  async end(): Promise<void> {
    while (this.#begun.length > 0) await this.#endFirst()
  }

  /** Waits until no work is running, whatever its outcome. No follow-up runs. */
  async settle(): Promise<void> {
    await Promise.allSettled(this.#begun.splice(0).map(({ work }) => work))
  }

  async #endFirst(): Promise<void> {
    const first = this.#begun.shift() as Begun
    this.#weight -= first.weight
    await first.end()
  }
}
