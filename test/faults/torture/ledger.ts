/** Requests to Stead and its answers: the one truth that the checks compare with. */
export type Outcome =
  /** 2xx: must exist forever. */
  | 'acknowledged'
  /** 4xx: must have changed nothing. */
  | 'refused'
  /** No response, or 5xx: may have happened once, or not at all. */
  | 'unknown'

/** One intended change, however often it was sent. */
export interface Write {
  readonly what: string
  readonly key: string | undefined
  readonly method: string
  readonly path: string
  readonly body: unknown
  readonly outcome: Outcome
  /** The last response; status 0 if there was none. */
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: whatever the operation answers
  readonly data: any
  readonly attempts: number
  readonly entry: ExpectedEntry | undefined
}

/** The activity log entry that a change leaves. */
export interface ExpectedEntry {
  readonly action: string
  /** `undefined` for entries that nothing tells apart: they are counted together. */
  readonly siteId: number | undefined
  /** Unique to the change, or `undefined`. A function if only the response contains what makes it unique. */
  readonly message?: string | ((data: Write['data']) => string)
}

export class Ledger {
  readonly writes: Write[] = []
  /** Replays that got a different response than the first. */
  readonly wrongReplays: string[] = []
  replays = 0
  /** Counted by checks and loads. */
  readonly #figures = new Map<string, number>()
  readonly #answers = new Map<string, number>()

  /** @param surface `api` or `visit` */
  answered(surface: string, status: number, note = ''): void {
    const line = `${surface} ${status || 'no answer'}${note && ` ${note}`}`
    this.#answers.set(line, (this.#answers.get(line) ?? 0) + 1)
  }

  count(what: string, by = 1): void {
    this.#figures.set(what, (this.#figures.get(what) ?? 0) + by)
  }

  answers(): Record<string, number> {
    return Object.fromEntries([...this.#answers].sort())
  }

  figures(): Record<string, number> {
    const of = (outcome: Outcome) => this.writes.filter((write) => write.outcome === outcome).length
    return {
      'writes acknowledged': of('acknowledged'),
      'writes refused': of('refused'),
      'writes without an answer': of('unknown'),
      'sent again with their key': this.writes.reduce((sum, { attempts }) => sum + attempts - 1, 0),
      replays: this.replays,
      ...Object.fromEntries(this.#figures),
    }
  }
}
