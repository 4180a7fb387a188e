declare module '../platform/db/schema.ts' {
  interface Schema {
    backup_key: BackupKeyRow
  }
}

/** One row, once there is a key. */
export interface BackupKeyRow {
  id: number
  /** The key in base64, sealed under the master key. */
  sealed: string
  /** What this copy of the installation calls itself in the storage; null until it was asked for. */
  holder: string | null
  created_at: number
}
