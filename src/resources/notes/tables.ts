import type { Generated } from 'kysely'

declare module '../../platform/db/schema.ts' {
  interface Schema {
    notes: NoteRow
  }
}

export interface NoteRow {
  id: Generated<number>
  site_id: number
  author: string
  editor: string
  subject: string
  body: string
  created_at: number
  updated_at: number
  /** The size of subject and body. */
  size_bytes: Generated<number>
}
