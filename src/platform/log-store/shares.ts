import type { LogRecord } from './log-store.ts'

/** The limits of the log; see `logLimits`. */
export interface LogLimits {
  /** The limit of all days and kinds. */
  readonly totalBytes: number
  /** The limit of a kind and day. Beyond it, only sites with less than others can add entries. */
  readonly dayBytes: number
  /** The limit of a site, kind and day. */
  readonly siteBytes: number
}

/**
 * Returns the limits. Two kinds, each at twice its day because small sites keep adding, are half of the total. The
 * other half is for older days.
 */
export const logLimits = (totalBytes: number): LogLimits => ({
  totalBytes,
  dayBytes: totalBytes / 8,
  siteBytes: totalBytes / 32,
})

/** The usage of a site in the log of a day. */
export interface SiteDay {
  readonly bytes: number
  /** The usage of all sites of the day. */
  readonly dayBytes: number
  readonly sites: number
}

/** The approximate size of a row and its index entries, without the texts. */
export const ROW_BYTES = 200
export const recordBytes = ({ body, key }: LogRecord): number => Buffer.byteLength(body) + key.length + ROW_BYTES

/**
 * Beyond a share, one entry in this many is kept, up to a quarter more than the share. It still shows what is
 * happening.
 */
const SAMPLE = 100
const SAMPLED_PART = 1.25

/** Returns the entries of a site and day that fit. */
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

/** How long sums of a day are used. They only need to be approximate. */
export const SUMS_MS = 5_000
