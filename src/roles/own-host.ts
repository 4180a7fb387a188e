import type { HostReportRecord } from '../hosting/host.store.ts'
import { HOST_SILENT_MS, isUsable } from '../hosting/host-state.ts'
import type { HostReport } from './host/reports.ts'

/** A host as `/readyz` shows it. */
export interface HostStanding extends Pick<HostReportRecord, 'name' | 'state' | 'datacenters' | 'facts'> {
  /** Whether it reported within ten seconds. */
  readonly isHeard: boolean
  /** The time since its last report. Null if it never reported. */
  readonly seenSeconds: number | null
  /** Why it could not record its state, as it told its supervisor. */
  readonly recordFault?: string | undefined
}

/**
 * The host of the same supervisor, which reports through the supervisor as well. On a full disk, it can record nothing,
 * and that is when people check.
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

  /**
   * Returns all hosts, and which of them report.
   * @param now the time of the database's clock
   */
  among(recorded: readonly HostReportRecord[], now: number): HostStanding[] {
    const told = this.#last && this.#now() - this.#last.atMs < HOST_SILENT_MS ? this.#last.report : undefined
    return recorded.map(({ name, state, datacenters, seenAt, facts }) => {
      const seenSeconds = seenAt === 0 ? null : Math.max(0, Math.round((now - seenAt) / 1000))
      const host = { name, state, datacenters, seenSeconds }
      if (name === told?.name)
        return { ...host, isHeard: true, facts: told.facts as HostReportRecord['facts'], recordFault: told.fault }
      // A time in the future comes from a clock that was set back since. A living host reports again within seconds.
      return { ...host, isHeard: Math.abs(now - seenAt) < HOST_SILENT_MS, facts }
    })
  }
}

/**
 * Returns the datacenters that hosts serve, but none that reports.
 * @param codes the codes of all datacenters
 */
export function datacentersDown(hosts: readonly HostStanding[], codes: readonly string[]): string[] {
  const serving = (code: string) =>
    hosts.filter(({ datacenters }) => datacenters.length === 0 || datacenters.includes(code))
  return codes.filter((code) => serving(code).length > 0 && !serving(code).some(isRunning))
}

/** Returns whether a host runs and is meant to. */
export const isRunning = ({ isHeard, state }: HostStanding): boolean => isHeard && isUsable(state)
