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
  /** JSON: `ImportUpload[]`; null: its files are fetched. */
  uploads: string | null
  /** JSON: `OldSource`, the running old site; null: it comes from files. */
  live_source: string | null
  /** Sealed: what the old site is logged in to with. Null as soon as the import has ended. */
  live_secret: string | null
  /** 1: it starts when its plan is ready. */
  starts: Flag
  /** JSON: `ImportPlan`; null until it was inspected. */
  plan: string | null
  /** JSON: `ComparedPage[]`; null until it was imported. */
  comparison: string | null
  /** Why it could not be inspected, or imported. */
  error: string | null
  /** The last that worked on it. */
  operation_id: number | null
  created_at: number
  /** From when on its staged data may go. */
  expires_at: number
}
