import type { Generated } from 'kysely'

declare module '../../platform/db/schema.ts' {
  interface Schema {
    backups: BackupRow
    backup_schedules: BackupScheduleRow
    archive_lengths: ArchiveLengthsRow
  }
}

export interface BackupRow {
  /** Unique across all kinds and sites, and never reused. */
  id: Generated<number>
  site_id: number
  kind: 'fs' | 'db'
  origin: 'ondemand' | 'scheduled' | 'undo'
  state: 'creating' | 'completed' | 'deleting' | 'failed'
  requested_at: number
  /** The moment that the backup shows. Null until completed, like the next four. */
  taken_at: number | null
  completed_at: number | null
  /** The time from which it may be removed. */
  delete_at: number
  /** Size of the content. */
  bytes: number | null
  /** File backups only: size of the downloadable archive. Null while unknown. */
  archive_bytes: Generated<number | null>
  /** File backups only: the core that the site ran on, stored once for all sites. */
  core_version: string | null
  /** Name and address of the requester, or null for Stead. */
  created_by: string | null
  /** The operation that takes or removes it. */
  operation_id: number | null
  /** Why it could not be taken. */
  error: string | null
  /** Database backups only: 1 after it was test-loaded and compared. */
  tried_out: Generated<0 | 1>
  /** Description of what it lacks. */
  warning: Generated<string | null>
  /** Description of what the storage has lost of it. */
  damage: Generated<string | null>
  /** Name in the storage. Null means `b` and its id, the name of all earlier backups. */
  name: string | null
}

/** When Stead next backs up a site on its own schedule. */
export interface BackupScheduleRow {
  site_id: number
  files_at: number
  database_at: number
  /** When a backup is next restored as a test. */
  proof_at: number
  /** When the owner was last told of a failure. */
  told_at: number | null
}

/** What is known about the compressed archive of a file backup, learned by creating it. Deleted with its backup. */
export interface ArchiveLengthsRow {
  backup_id: number
  /** Format of the archive. Results of other formats do not apply. */
  format: number
  /** How many of its blocks are known. */
  blocks: number
  /** 1 if these are all blocks. */
  whole: 0 | 1
  /** In the encoding of `ArchiveLengths`, in base64. */
  places: string
  /** Name of the core that it begins with. */
  core: Generated<string | null>
}
