import type { DiskState } from '../../../platform/files/free-room.ts'
import type { RightsLevel } from '../site-rights.ts'

const MB = 1 << 20
/**
 * How far a site with reduced rights may grow beyond its quota, by sign-ins and posts that move to the trash. The same
 * as for SQLite.
 */
const GRACE_BYTES = 32 * MB
/** Rights return slightly below the limits, so that they do not flap. */
export const BACK_BELOW = 0.95
const BACK_ABOVE = 1.1

export interface SpaceOfSite {
  /** Files and database together. */
  readonly usedBytes: number
  readonly quotaBytes: number
}

/** Returns the rights that a site's own disk usage allows. */
export function levelOfSpace({ usedBytes, quotaBytes }: SpaceOfSite, now: RightsLevel): RightsLevel {
  if (usedBytes > quotaBytes + Math.min(GRACE_BYTES, quotaBytes / 4)) return 'least'
  if (usedBytes > quotaBytes) return now === 'least' ? 'least' : 'reduced'
  return usedBytes > BACK_BELOW * quotaBytes && now !== 'all' ? 'reduced' : 'all'
}

/** Returns the rights that free space on the host's disk allows. @param stateAt of `FreeRoom` */
export function levelOfDisk(
  stateAt: (freeBytes: number) => DiskState,
  freeBytes: number,
  now: RightsLevel,
): RightsLevel {
  const level = ofState(stateAt(freeBytes))
  const withLess = ofState(stateAt(freeBytes / BACK_ABOVE))
  return order[level] < order[now] ? worse(withLess, level) : level
}

const ofState = (state: DiskState): RightsLevel =>
  (({ ok: 'all', sites: 'reduced', records: 'least', essential: 'least' }) as const)[state]

const order: Record<RightsLevel, number> = { all: 0, reduced: 1, least: 2 }

export const worse = (one: RightsLevel, other: RightsLevel): RightsLevel => (order[one] > order[other] ? one : other)
