import type { Migration } from 'kysely/migration'
import type { AnyDb } from './columns.ts'

/** Facts of an account from its operator, page views of the current day, the published name of an action. */
export const corrections: Migration = {
  async up(db: AnyDb) {
    for (const column of ['affiliate', 'preview'])
      await db.schema
        .alterTable('accounts')
        .addColumn(column, 'integer', (definition) => definition.notNull().defaultTo(0))
        .execute()
    await db.schema.createIndex('page_view_days_day').on('page_view_days').columns(['day', 'site_id']).execute()
    await db
      .updateTable('activity')
      .set({ action: 'wordpress.object_cache' })
      .where('action', '=', 'object_cache.purged')
      .execute()
  },
}
