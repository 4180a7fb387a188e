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

/**
 * A tag of a site. It repeats fields of the account's row of `site_access`, so that the sites of a tag are stored in
 * the order of lists.
 */
export interface SiteTagRow {
  tag_id: number
  site_id: number
  site_name: string
  rank: 0 | 1
  is_deleted: 0 | 1
}
