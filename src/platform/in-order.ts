interface Begun {
  readonly weight: number
  /** What follows when it is done; rejects as the work does. */
  readonly end: () => Promise<void>
  readonly work: Promise<unknown>
}

/** Work that goes on while more is begun. What follows it is done in the order in which it was begun, by whoever asks next. */
export class InOrder {
  readonly #begun: Begun[] = []
  readonly #most: number
  #weight = 0

  /** @param most weight that may be under way */
  constructor(most: number) {
    this.#most = most
  }

  /** Waits until there is room for more. @throws what earlier work has thrown, or what followed it */
  async begin<Result>(weight: number, work: Promise<Result>, then: (result: Result) => Promise<void>): Promise<void> {
    // it is waited for in its turn, which may never come
    work.catch(() => {})
    this.#begun.push({ weight, work, end: async () => then(await work) })
    this.#weight += weight
    while (this.#weight >= this.#most) await this.#endFirst()
  }

  /** Waits for all. @throws what any of it has thrown */
  async end(): Promise<void> {
    while (this.#begun.length > 0) await this.#endFirst()
  }

  /** Waits until nothing is at work any more, whatever has become of it; nothing follows. */
  async settle(): Promise<void> {
    await Promise.allSettled(this.#begun.splice(0).map(({ work }) => work))
  }

  async #endFirst(): Promise<void> {
    const first = this.#begun.shift() as Begun
    this.#weight -= first.weight
    await first.end()
  }
}
