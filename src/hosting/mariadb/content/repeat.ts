/** Repeats a check. The pause begins when a check has ended, so that checks never overlap. */
export class Repeat {
  readonly #look: () => Promise<void>
  readonly #pauseMs: () => number
  #timer: NodeJS.Timeout | undefined
  #looking: Promise<void> = Promise.resolve()

  /** @param look must never reject */
  constructor(look: () => Promise<void>, pauseMs: () => number) {
    this.#look = look
    this.#pauseMs = pauseMs
  }

  start(): void {
    this.#again(0)
  }

  /** Resolves when no check is running. */
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
