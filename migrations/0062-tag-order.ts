import { sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import { type AnyDb, partialIndex } from './columns.ts'

/** Stores the sites of a tag in the order of lists: each row repeats what the account sees of the site. */
export const tagOrder: Migration = {
  async up(db: AnyDb) {
    await db.schema
      .alterTable('site_tags')
      .addColumn('site_name', 'text', (column) => column.notNull().defaultTo(''))
      .execute()
    for (const [column, value] of [
      ['rank', 1],
      ['is_deleted', 0],
    ] as const)
      await db.schema
        .alterTable('site_tags')
        .addColumn(column, 'integer', (definition) => definition.notNull().defaultTo(value))
        .execute()
    await sql`update site_tags set site_name = seen.site_name, rank = seen.rank, is_deleted = seen.is_deleted
      from site_access as seen, tags
      where tags.id = site_tags.tag_id and seen.account_id = tags.account_id and seen.site_id = site_tags.site_id`.execute(
      db,
    )
    await partialIndex(db, {
      name: 'site_tags_order',
      table: 'site_tags',
      columns: 'tag_id, rank, site_name, site_id',
      where: 'is_deleted = 0',
    })
  },
}
