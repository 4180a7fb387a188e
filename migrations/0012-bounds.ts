import type { Migration } from 'kysely/migration'
import type { AnyDb } from './columns.ts'

/** What the bounds of what an account may keep are counted by. */
export const bounds: Migration = {
  async up(db: AnyDb) {
    await idempotencyKeys(db)
  },
}

/** A key says whose claim it is, and what it takes; both are summed up from an index alone. */
async function idempotencyKeys(db: AnyDb): Promise<void> {
  const alter = () => db.schema.alterTable('idempotency_keys')
  await alter()
    .addColumn('claim', 'text', (column) => column.notNull().defaultTo(''))
    .execute()
  await alter()
    .addColumn('size_bytes', 'bigint', (column) => column.notNull().defaultTo(0))
    .execute()
  await db.schema
    .createIndex('idempotency_keys_size')
    .on('idempotency_keys')
    .columns(['application_id', 'size_bytes'])
    .execute()
}
