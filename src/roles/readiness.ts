import type { PartStates } from './control.ts'

/** What readiness depends on. */
export interface Readiness {
  /** Hosts that run (`isRunning`): a host that could not record its state for ten seconds is not among them. */
  readonly hosts: readonly { readonly facts: Record<string, unknown> }[]
  readonly parts: PartStates
  readonly canWrite: boolean
  /** The keys of a first start can be read. */
  readonly isIntroduced: boolean
}

/** Returns whether all sites and the API work. Without any host, no site does. */
export function isReady({ hosts, parts, canWrite, isIntroduced }: Readiness): boolean {
  const isPrepared = hosts.length > 0 && hosts.every(({ facts }) => facts.preparing === false)
  return isIntroduced && canWrite && isPrepared && hosts.every(hasDatabases) && Object.values(parts).every(Boolean)
}

/** Whether a host's MariaDB answers. A host without one needs none. */
const hasDatabases = ({ facts }: Readiness['hosts'][number]): boolean =>
  (facts.mariaDb as { isUp?: boolean } | undefined)?.isUp !== false
