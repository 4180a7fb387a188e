import { sql } from 'kysely'
import { type Migration, type MigrationProvider, Migrator } from 'kysely/migration'
import { OperatorError } from '../operator-error.ts'
import { type Database, isPostgres, type Tx, withoutTimeLimit } from './database.ts'

/** A newer version of Stead created the database, and this version would damage it. */
export class DatabaseTooNew extends OperatorError {
  override readonly name = 'DatabaseTooNew'
}

/**
 * Brings the schema up to date in one transaction. Several processes may call it at once.
 * @param migrations name → migration, in order of name
 * @throws DatabaseTooNew when the database has a migration that this program does not know
 */
export async function migrate(database: Database, migrations: Migrations): Promise<void> {
  await database.transaction((tx) => migrateIn(tx, migrations))
}

/** Every migration by name, in order. */
export type Migrations = Readonly<Record<string, Migration>>

/** Does the same as {@link migrate}, as part of a transaction. */
export async function migrateIn(tx: Tx, migrations: Migrations): Promise<void> {
  await withoutTimeLimit(tx)
  // The lock comes first, because two processes that create the migrator's own tables at once would fail.
  if (isPostgres(tx)) await sql`select pg_advisory_xact_lock(7241986)`.execute(tx)
  knowsAll(migrations, await appliedMigrations(tx))
  const provider: MigrationProvider = { getMigrations: async () => migrations }
  const { error } = await new Migrator({ db: tx, provider }).migrateToLatest()
  if (error) throw error
}

/**
 * Checks that this program knows all applied migrations.
 * @throws DatabaseTooNew when a database, or a copy of one, has a migration that it does not know
 */
export function knowsAll(migrations: Migrations, applied: readonly string[]): void {
  const unknown = applied.filter((name) => !Object.hasOwn(migrations, name))
  if (unknown.length > 0)
    throw new DatabaseTooNew(
      `The database belongs to a newer version of Stead (${unknown.join(', ')}). Start that version, or restore a backup of the database.`,
    )
}

/** Returns whether no Stead has ever stored anything in a database. */
export const isUnused = async ({ read }: Database): Promise<boolean> => (await appliedMigrations(read)).length === 0

/** Returns the names of the migrations applied to a database, in order. A new database has none. */
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
