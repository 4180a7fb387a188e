import type { DiskState } from '../platform/files/free-room.ts'
import { datacentersDown, type HostStanding, isRunning } from './own-host.ts'

/** The other processes that the supervisor knows: name → running. */
export type PartStates = Readonly<Record<string, boolean>>

/** The facts that readiness depends on. */
export interface ReadinessFacts {
  /** All hosts that were not removed, running or not. */
  readonly hosts: readonly HostStanding[]
  /** The codes of all datacenters. */
  readonly datacenters: readonly string[]
  readonly parts: PartStates
  /** The disk of the data folder. */
  readonly disk: DiskState | 'read-only'
  /** Whether the keys of a first start can be read. */
  readonly isIntroduced: boolean
}

export interface ReadinessVerdict {
  /** Whether all sites and the API work. */
  readonly ready: boolean
  /**
   * Whether something is limited. The API still reads, changes, and deletes, so a load balancer must not take it out.
   */
  readonly isDegraded: boolean
  /** The reasons why it is not ready, or degraded, as sentences. */
  readonly reasons: readonly string[]
}

/** Returns whether Stead works, and if not, why. */
export function judgeReadiness(readiness: ReadinessFacts): ReadinessVerdict {
  const missing = [...faultsOfControl(readiness), ...faultsOfHosts(readiness)]
  const limits = limitsOf(readiness)
  const reasons = missing.length > 0 ? missing : limits
  return { ready: missing.length === 0, isDegraded: limits.length > 0, reasons }
}

function faultsOfControl({ parts, disk, isIntroduced }: ReadinessFacts): string[] {
  const stopped = Object.keys(parts).filter((name) => !parts[name])
  return [
    ...(isIntroduced ? [] : ['Stead has not created the first account yet.']),
    ...(disk === 'read-only' ? ['Stead cannot write to its data folder.'] : []),
    ...stopped.map((name) => `The process "${name}" does not run.`),
  ]
}

/** Returns the faults of hosts. Without any host, no site works. */
function faultsOfHosts({ hosts, disk }: ReadinessFacts): string[] {
  const running = hosts.filter(isRunning)
  if (hosts.length === 0) return ['No host has started yet.']
  if (running.length === 0) return hosts.map((host) => whyAway(host, disk))
  return running.flatMap(({ name, facts }) => {
    const { isUp, fault } = (facts.mariaDb ?? {}) as { isUp?: boolean; fault?: string }
    return [
      ...(facts.preparing === false ? [] : [`The host ${name} is preparing WordPress.`]),
      // A host without MariaDB needs none.
      ...(isUp === false ? [`MariaDB on the host ${name} does not respond${fault ? `: ${fault}` : ''}.`] : []),
    ]
  })
}

/**
 * Explains why a host is away. A host that cannot record its state cannot record the reason either, so this uses what
 * this process sees of the same disk.
 */
function whyAway({ name, state, isHeard, seenSeconds }: HostStanding, disk: ReadinessFacts['disk']): string {
  if (isHeard) return `The host ${name} is marked as ${state}.`
  const since = seenSeconds === null ? 'has never reported' : `has not reported for ${seenSeconds} s`
  const why =
    disk === 'essential' || disk === 'read-only'
      ? 'It cannot record its state on a disk that is full or read-only. Free space on the disk of the data folder.'
      : 'It does not run, or it cannot write to the control database. Its log says why.'
  return `The host ${name} ${since}. ${why}`
}

function limitsOf({ hosts, datacenters }: ReadinessFacts): string[] {
  const running = hosts.filter(isRunning)
  const hasCore = running.length === 0 || running.some(({ facts }) => facts.wordpress !== null)
  return [
    ...(hasCore ? [] : ['No host has a WordPress to create sites from.']),
    ...datacentersDown(hosts, datacenters).map((code) => `No running host serves the datacenter ${code}.`),
  ]
}
