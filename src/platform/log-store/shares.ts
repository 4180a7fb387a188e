import type { LogRecord } from './log-store.ts'

/** How much of the log there may be; see `logLimits`. */
export interface LogLimits {
  /** Of all days and kinds. */
  readonly totalBytes: number
  /** Of a kind and day; beyond it only sites that have less than others add to it. */
  readonly dayBytes: number
  /** Of a site, kind and day. */
  readonly siteBytes: number
}

/** Two kinds, both at twice their day while small sites go on adding, are half of the total: the other half is for older days. */
export const logLimits = (totalBytes: number): LogLimits => ({
  totalBytes,
  dayBytes: totalBytes / 8,
  siteBytes: totalBytes / 32,
})

/** What a site has in the log of a day. */
export interface SiteDay {
  readonly bytes: number
  /** Of all sites of the day. */
  readonly dayBytes: number
  readonly sites: number
}

/** Rows and index entries besides the texts, about. */
export const ROW_BYTES = 200
export const recordBytes = ({ body, key }: LogRecord): number => Buffer.byteLength(body) + key.length + ROW_BYTES

/** Over its share one entry of so many is kept, up to a quarter more than the share: it still shows what goes on. */
const SAMPLE = 100
const SAMPLED_PART = 1.25

/** Which entries of a site and day there is room for. */
export function admitted(records: readonly LogRecord[], has: SiteDay, limits: LogLimits): LogRecord[] {
  const isFull = has.dayBytes >= limits.dayBytes
  const share = isFull ? Math.min(limits.siteBytes, limits.dayBytes / Math.max(1, has.sites)) : limits.siteBytes
  let { bytes } = has
  return records.filter((record) => {
    if (bytes >= share && (bytes >= share * SAMPLED_PART || record.id % SAMPLE !== 0)) return false
    bytes += recordBytes(record)
    return true
  })
}

/** How long sums over a day are good: they only have to be about right. */
export const SUMS_MS = 5_000
