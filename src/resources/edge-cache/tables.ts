declare module '../../platform/db/schema.ts' {
  interface Schema {
    purge_clock: PurgeClockRow
    cache_purges: CachePurgeRow
  }
}

/** One row: the number of the newest purge. */
export interface PurgeClockRow {
  id: number
  seq: number
}

/** Something that edges must let go of. */
export interface CachePurgeRow {
  /** Ascending without gaps, in the order of commits. */
  seq: number
  site_id: number
  /** All pages of lower epochs; null: not all. */
  page_epoch: number | null
  file_epoch: number | null
  /** JSON array of paths of single pages; null: none. */
  paths: string | null
}
