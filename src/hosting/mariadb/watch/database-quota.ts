import type { DiskState } from '../../../platform/files/free-room.ts'
import type { RightsLevel } from '../site-rights.ts'

const MB = 1 << 20
/** With the reduced rights a site may grow so much beyond its quota: sign-ins, and posts that go to the trash. As SQLite has it. */
const GRACE_BYTES = 32 * MB
/** Rights come back a little below the limits, so that they do not come and go. */
export const BACK_BELOW = 0.95
const BACK_ABOVE = 1.1

export interface SpaceOfSite {
  /** Files and database together. */
  readonly usedBytes: number
  readonly quotaBytes: number
}

/** Returns the rights that a site's own use of the disk leaves it. */
export function levelOfSpace({ usedBytes, quotaBytes }: SpaceOfSite, now: RightsLevel): RightsLevel {
  if (usedBytes > quotaBytes + Math.min(GRACE_BYTES, quotaBytes / 4)) return 'least'
  if (usedBytes > quotaBytes) return now === 'least' ? 'least' : 'reduced'
  return usedBytes > BACK_BELOW * quotaBytes && now !== 'all' ? 'reduced' : 'all'
}

/**
 * Returns the rights that the host's disk leaves all sites.
 * @param stateAt of `FreeRoom`
 */
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
