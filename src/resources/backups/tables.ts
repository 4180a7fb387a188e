import type { Generated } from 'kysely'

declare module '../../platform/db/schema.ts' {
  interface Schema {
    backups: BackupRow
    backup_schedules: BackupScheduleRow
    archive_lengths: ArchiveLengthsRow
  }
}

export interface BackupRow {
  /** One sequence for all kinds and sites; never given out twice. */
  id: Generated<number>
  site_id: number
  kind: 'fs' | 'db'
  origin: 'ondemand' | 'scheduled' | 'undo'
  state: 'creating' | 'completed' | 'deleting' | 'failed'
  requested_at: number
  /** The moment that it shows the site at; null until completed, as the next four. */
  taken_at: number | null
  completed_at: number | null
  /** From when on it may go. */
  delete_at: number
  /** Of the content. */
  bytes: number | null
  /** Of files: what the archive has that people download; null while that is not known. */
  archive_bytes: Generated<number | null>
  /** Of a file backup: the core that the site ran on, kept once for all sites. */
  core_version: string | null
  /** Whose doing it is: name and address. Null: Stead's own. */
  created_by: string | null
  /** Takes it, or removes it. */
  operation_id: number | null
  /** Why it could not be taken. */
  error: string | null
  /** Of a database: 1 when it was loaded once and compared. */
  tried_out: Generated<0 | 1>
  /** What it lacks, in words. */
  warning: Generated<string | null>
  /** What the storage has lost of it, in words. */
  damage: Generated<string | null>
  /** In the storage; null: `b` and its id, as they were all called once. */
  name: string | null
}

/** When a site is next to be backed up, by Stead itself. */
export interface BackupScheduleRow {
  site_id: number
  files_at: number
  database_at: number
  /** The next time that one is restored, to see that it can be. */
  proof_at: number
  /** When its owner was last told that one failed. */
  told_at: number | null
}

/** What is known of the compressed archive of a file backup from making it. Goes with its backup. */
export interface ArchiveLengthsRow {
  backup_id: number
  /** Of the archive: what was found out of another one says nothing. */
  format: number
  /** How many of its blocks are known. */
  blocks: number
  /** 1: these are all. */
  whole: 0 | 1
  /** As `ArchiveLengths` writes it, in base64. */
  places: string
  /** Names the core that it begins with. */
  core: Generated<string | null>
}
