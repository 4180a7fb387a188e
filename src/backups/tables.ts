declare module '../platform/db/schema.ts' {
  interface Schema {
    backup_key: BackupKeyRow
  }
}

/** The key of backups: one row, once there is a key. */
export interface BackupKeyRow {
  id: number
  /** The key in base64, sealed under the master key. */
  sealed: string
  /** The name of this copy of the installation in the storage; null until it is first needed. */
  holder: string | null
  created_at: number
}
