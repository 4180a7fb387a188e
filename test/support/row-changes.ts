/** Records the changed rows of a database by triggers, as part of each change: cheaper than reading all of them. */
import { sql, type TableMetadata } from 'kysely'
import type { Database, Tx } from '../../src/platform/db/database.ts'

export interface RowChange {
  readonly table: string
  readonly change: 'insert' | 'update' | 'delete'
  /** The number of the row in its table; null on PostgreSQL. */
  readonly row: number | null
}

export interface RowChanges {
  /** Returns a position for `since`. It differs if a row has changed. */
  mark(): Promise<number>
  since(mark: number): Promise<readonly RowChange[]>
}

/** Begins to record. An update that changes no value is none. */
export async function recordRowChanges({ dialect, read, transaction }: Database): Promise<RowChanges> {
  const tables = await read.introspection.getTables()
  await transaction((tx) => (dialect === 'sqlite' ? prepareSqlite(tx, tables) : preparePostgres(tx, tables)))
  return {
    async mark() {
      const { rows } = await sql<{ last: number }>`select coalesce(max(id), 0) as last from row_changes`.execute(read)
      return Number(rows[0]?.last)
    },
    async since(mark) {
      const { rows } =
        await sql<RowChange>`select name as "table", change, row from row_changes where id > ${mark} order by id`.execute(
          read,
        )
      return rows
    },
  }
}

async function prepareSqlite(tx: Tx, tables: readonly TableMetadata[]): Promise<void> {
  await sql`create table row_changes (id integer primary key, name text, change text, row integer)`.execute(tx)
  for (const { name, columns } of tables) {
    const differs = columns.map((column) => sql`old.${sql.ref(column.name)} is not new.${sql.ref(column.name)}`)
    for (const [change, row, when] of [
      ['insert', 'new', sql``],
      ['update', 'old', sql`when ${sql.join(differs, sql` or `)}`],
      ['delete', 'old', sql``],
    ] as const)
      await sql`create trigger ${sql.id(`record_${change}_${name}`)} after ${sql.raw(change)} on ${sql.table(name)} ${when}
        begin insert into row_changes (name, change, row)
        values (${sql.lit(name)}, ${sql.lit(change)}, ${sql.raw(row)}.rowid); end`.execute(tx)
  }
}

async function preparePostgres(tx: Tx, tables: readonly TableMetadata[]): Promise<void> {
  await sql`create table row_changes (id bigserial primary key, name text, change text, row bigint)`.execute(tx)
  await sql`create function record_change() returns trigger language plpgsql as $$
    begin
      if tg_op = 'UPDATE' and old is not distinct from new then return null; end if;
      insert into row_changes (name, change) values (tg_table_name, lower(tg_op)); return null;
    end $$`.execute(tx)
  for (const { name } of tables)
    await sql`create trigger record_change after insert or update or delete on ${sql.table(name)}
      for each row execute function record_change()`.execute(tx)
}
