declare module '../../platform/db/schema.ts' {
  interface Schema {
    safe_updates: SafeUpdateRow
    safe_update_pictures: SafeUpdatePictureRow
    safe_update_settings: SafeUpdateSettingsRow
    safe_update_batches: SafeUpdateBatchRow
    safe_update_batch_sites: SafeUpdateBatchSiteRow
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
  /** The batch that started it. */
  batch_id: number | null
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

/** Settings for all safe updates of a site. A site without a row has none. */
export interface SafeUpdateSettingsRow {
  site_id: number
  /** JSON: selectors. */
  masks: string
  /** JSON: paths. */
  paths: string
}

/** A safe update of many sites. It has the number of its operation, and stays longer than that. */
export interface SafeUpdateBatchRow {
  operation_id: number
  /** The account that requested it. */
  account_id: number
  /** JSON: `BatchWish`. */
  wanted: string
  state: string
  created_at: number
  ended_at: number | null
}

/** A site of a batch. */
export interface SafeUpdateBatchSiteRow {
  batch_id: number
  site_id: number
  state: string
  /** Why it was skipped, was undone, or failed. */
  reason: string | null
  /** The operation that updates the site. */
  update_id: number | null
}
