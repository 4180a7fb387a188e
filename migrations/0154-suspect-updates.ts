import type { Migration } from 'kysely/migration'
import type { AnyDb } from './columns.ts'

/** Which versions were undone together with others, and which turns of policies come after such a version was tried. */
export const suspectUpdates: Migration = {
  async up(db: AnyDb) {
    for (const [table, column] of [
      ['undone_updates', 'is_suspect'],
      ['update_turns', 'after_trial'],
    ] as const)
      await db.schema
        .alterTable(table)
        .addColumn(column, 'integer', (each) => each.notNull().defaultTo(0))
        .execute()
  },
}
