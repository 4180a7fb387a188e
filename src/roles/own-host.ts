import type { HostReport } from './host/reports.ts'

/** A host that has not been heard of for so long does not count. */
const HOST_SILENT_MS = 10_000

/** What the database has of a host. */
interface Recorded {
  readonly name: string
  readonly seenAt: number
  readonly facts: Record<string, unknown>
}

/**
 * The host of the same supervisor, which says how it is by way of that one as well: on a disk that is full it can record nothing, and that is
 * when people ask.
 */
export class OwnHost {
  readonly #now: () => number
  #last: { readonly report: HostReport; readonly atMs: number } | undefined

  /** @param now a monotonic clock */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  hear(report: HostReport): void {
    this.#last = { report, atMs: this.#now() }
  }

  /** Returns the hosts that live. @param now by the clock of the records */
  among(recorded: readonly Recorded[], now: number): Pick<Recorded, 'name' | 'facts'>[] {
    const told = this.#last && this.#now() - this.#last.atMs < HOST_SILENT_MS ? this.#last.report : undefined
    return recorded.flatMap(({ name, seenAt, facts }) => {
      if (name === told?.name) return { name, facts: told.facts as Recorded['facts'] }
      // a time to come is that of a clock that was set back since: a living host reports again within seconds
      return Math.abs(now - seenAt) < HOST_SILENT_MS ? { name, facts } : []
    })
  }
}
