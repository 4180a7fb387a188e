import { DAY_MS, HOUR_MS } from '../../../platform/durations.ts'

/** Files are backed up within these hours of the night, UTC. Each site has a fixed time. */
const NIGHT_MS = 6 * HOUR_MS

/** What Stead does to each site automatically, and how often. */
export const rhythms = {
  files: { everyMs: DAY_MS, spreadMs: NIGHT_MS, turn: 0 },
  database: { everyMs: HOUR_MS, spreadMs: HOUR_MS, turn: 1 },
  proof: { everyMs: 7 * DAY_MS, spreadMs: 7 * DAY_MS, turn: 2 },
} as const
export type Rhythm = keyof typeof rhythms

/** The rhythm of the scheduled backups of a kind, and the kind of a rhythm. */
export const rhythmOf = { fs: 'files', db: 'database' } as const
export const backupKindOf = { files: 'fs', database: 'db' } as const

/**
 * 2^32 divided by the golden ratio: its multiples, modulo 2^32, are evenly spread however many there are (Knuth, TAOCP
 * vol. 3, 6.4).
 */
const GOLDEN = 2_654_435_769

/**
 * Returns how long after the start of a period a site's turn is. It is fixed for each site, and spread over all sites.
 */
export function offsetOf(siteId: number, rhythm: Rhythm): number {
  const { spreadMs, turn } = rhythms[rhythm]
  const share = (Math.imul(siteId, GOLDEN) + turn * 0x55555555) >>> 0
  return Math.floor((share / 2 ** 32) * spreadMs)
}

/** Returns a site's next turn after `now`. */
export function nextTurn(siteId: number, rhythm: Rhythm, now: number): number {
  const { everyMs } = rhythms[rhythm]
  const offset = offsetOf(siteId, rhythm)
  return (Math.floor((now - offset) / everyMs) + 1) * everyMs + offset
}
