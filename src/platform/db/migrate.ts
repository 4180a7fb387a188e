import { sql } from 'kysely'
import { type Migration, type MigrationProvider, Migrator } from 'kysely/migration'
import { OperatorError } from '../operator-error.ts'
import { type Database, isPostgres, type Tx, withoutTimeLimit } from './database.ts'

/** The database was made by a newer Stead: running on would damage it. */
export class DatabaseTooNew extends OperatorError {
  override readonly name = 'DatabaseTooNew'
}

/**
 * Brings the schema up to date; safe to call from several processes at once: one transaction does it all.
 * @param migrations name → migration, in order of name
 * @throws DatabaseTooNew when the database knows a migration that this program does not
 */
export async function migrate(database: Database, migrations: Migrations): Promise<void> {
  await database.transaction((tx) => migrateIn(tx, migrations))
}

/** Every migration by name, in order. */
export type Migrations = Readonly<Record<string, Migration>>

/** As {@link migrate}, as part of a transaction. */
export async function migrateIn(tx: Tx, migrations: Migrations): Promise<void> {
  await withoutTimeLimit(tx)
  // before anything else: two processes that create the migrator's own tables at once would fail
  if (isPostgres(tx)) await sql`select pg_advisory_xact_lock(7241986)`.execute(tx)
  knowsAll(migrations, await appliedMigrations(tx))
  const provider: MigrationProvider = { getMigrations: async () => migrations }
  const { error } = await new Migrator({ db: tx, provider }).migrateToLatest()
  if (error) throw error
}

/** @throws DatabaseTooNew when a database, or a copy of one, knows a migration that this program does not */
export function knowsAll(migrations: Migrations, applied: readonly string[]): void {
  const unknown = applied.filter((name) => !Object.hasOwn(migrations, name))
  if (unknown.length > 0)
    throw new DatabaseTooNew(
      `The database belongs to a newer version of Stead (${unknown.join(', ')}). Start that version, or restore a backup of the database.`,
    )
}

/** True for a database in which no Stead has ever kept anything. */
export const isUnused = async ({ read }: Database): Promise<boolean> => (await appliedMigrations(read)).length === 0

/** Names of the migrations that a database has had, in order; none: it is new. */
export async function appliedMigrations(tx: Tx): Promise<string[]> {
  const tables = await tx.introspection.getTables({ withInternalKyselyTables: true })
  if (!tables.some(({ name }) => name === 'kysely_migration')) return []
  const rows = await tx
    .withTables<{ kysely_migration: { name: string } }>()
    .selectFrom('kysely_migration')
    .select('name')
    .orderBy('name')
    .execute()
  return rows.map(({ name }) => name)
}
