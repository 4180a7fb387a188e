/** Runs a look again and again. The pause begins when a look has ended, so that looks never overlap. */
export class Repeat {
  readonly #look: () => Promise<void>
  readonly #pauseMs: () => number
  #timer: NodeJS.Timeout | undefined
  #looking: Promise<void> = Promise.resolve()

  /** @param look never rejects */
  constructor(look: () => Promise<void>, pauseMs: () => number) {
    this.#look = look
    this.#pauseMs = pauseMs
  }

  start(): void {
    this.#again(0)
  }

  /** Resolves when nothing is being looked at. */
  async stop(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    await this.#looking
  }

  #again(ms: number): void {
    this.#timer = setTimeout(() => {
      this.#looking = this.#look().then(() => {
        if (this.#timer) this.#again(this.#pauseMs())
      })
    }, ms).unref()
  }
}
