import type { Migration } from 'kysely/migration'
import type { AnyDb } from './columns.ts'

/**
 * The creator of a login link and the person it logs in. Both must still have the right when it is opened. Links live
 * 30 seconds, so existing ones are deleted.
 */
export const loginLinkPeople: Migration = {
  async up(db: AnyDb) {
    await db.deleteFrom('login_links').execute()
    for (const column of ['made_by_id', 'account_id'])
      await db.schema
        .alterTable('login_links')
        .addColumn(column, 'bigint', (definition) => definition.notNull().defaultTo(0))
        .execute()
  },
}
