declare module '../../platform/db/schema.ts' {
  interface Schema {
    safe_updates: SafeUpdateRow
    safe_update_pictures: SafeUpdatePictureRow
  }
}

/** The report of a safe update. It has the number of its operation, and stays longer than that. */
export interface SafeUpdateRow {
  operation_id: number
  site_id: number
  state: string
  /** Why it was undone, or failed. */
  reason: string | null
  /** JSON: `UpdatedItem[]`. */
  items: string
  /** JSON: `UpdatedPage[]`. */
  pages: string
  /** JSON: `NewMessage[]`. */
  logged: string
  /** Why no pictures were compared. */
  no_pictures: string | null
  /** JSON: `Changing`. From before the site is touched until the update is kept or undone. */
  changing: string | null
  created_at: number
  ended_at: number | null
}

/** A picture of a page that differs. */
export interface SafeUpdatePictureRow {
  operation_id: number
  /** The place of the page in the report. */
  page: number
  width: number
  kind: 'before' | 'after' | 'difference'
  /** JPEG in Base64. */
  picture: string
}
