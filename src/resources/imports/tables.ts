import type { Generated } from 'kysely'
import type { Flag } from '../../platform/db/schema.ts'

declare module '../../platform/db/schema.ts' {
  interface Schema {
    imports: ImportRow
  }
}

export interface ImportRow {
  id: Generated<number>
  site_id: number
  state: 'uploading' | 'waiting' | 'inspecting' | 'ready' | 'importing' | 'imported' | 'failed'
  /** JSON: addresses from which its files are fetched. */
  sources: string
  /** JSON: `ImportUpload[]`, or null if its files are fetched. */
  uploads: string | null
  /** JSON: `OldSource`, the running old site, or null if it comes from files. */
  live_source: string | null
  /** Login to the old site, sealed. Null once the import has ended. */
  live_secret: string | null
  /** 1 if it starts automatically when its plan is ready. */
  starts: Flag
  /** JSON: `ImportPlan`, or null until it was inspected. */
  plan: string | null
  /** JSON: `ComparedPage[]`, or null until it was imported. */
  comparison: string | null
  /** Why the inspection or the import failed. */
  error: string | null
  /** The last operation on it. */
  operation_id: number | null
  created_at: number
  /** The time from which its staged data may be removed. */
  expires_at: number
}
