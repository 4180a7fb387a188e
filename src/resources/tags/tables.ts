import type { Generated } from 'kysely'

declare module '../../platform/db/schema.ts' {
  interface Schema {
    tags: TagRow
    site_tags: SiteTagRow
  }
}

/** A tag of one account. */
export interface TagRow {
  id: Generated<number>
  account_id: number
  name: string
}

export interface SiteTagRow {
  tag_id: number
  site_id: number
}
