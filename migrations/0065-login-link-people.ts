import type { Migration } from 'kysely/migration'
import type { AnyDb } from './columns.ts'

/** Who made a log-in link and whom it logs in: both must still have the right when it is opened. Links live 30 seconds, so old ones go. */
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
