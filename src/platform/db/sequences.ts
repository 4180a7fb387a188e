import { type RawBuilder, sql } from 'kysely'
import { isPostgres, type Tx } from './database.ts'

/** Returns the highest id that a table has ever assigned. */
export async function lastGivenId(tx: Tx, table: string): Promise<number> {
  const { rows } = isPostgres(tx)
    ? await sql<{ last: number }>`
        select case when is_called then last_value else last_value - 1 end as last from ${sql.table(`${table}_id_seq`)}`.execute(
        tx,
      )
    : await sql<{ last: number }>`select seq as last from sqlite_sequence where name = ${table}`.execute(tx)
  return Number(rows[0]?.last ?? 0)
}

/**
 * Returns SQL for an id that no row of a table has had, for an insert that also writes its own id into another column.
 * Select it once, and pass it as the row's `id`. On SQLite, which has one writer, it is the next id until that insert.
 */
export const nextId = (tx: Tx, table: string): RawBuilder<number> =>
  isPostgres(tx)
    ? sql`nextval(${sql.lit(`${table}_id_seq`)}::regclass)`
    : // SQLite stores the number that `raiseIds` writes as a fraction, which would also be one in a text.
      sql`(select cast(coalesce(max(seq), 0) + 1 as integer) from sqlite_sequence where name = ${sql.lit(table)})`

/** Makes every new id of the table higher than `last`. Never lowers the sequence. */
export async function raiseIds(tx: Tx, table: string, last: number): Promise<void> {
  if ((await lastGivenId(tx, table)) >= last) return
  if (isPostgres(tx)) {
    if (!(await mayRaise(tx, table))) return void (await sql`select stead_raise_ids(${table}, ${last})`.execute(tx))
    // No insert may take a number in the meantime, because setval must not reset the sequence to before it.
    await sql`lock table ${sql.table(table)} in share row exclusive mode`.execute(tx)
    const sequence = sql`${`${table}_id_seq`}::regclass`
    await sql`select setval(${sequence}, greatest(${last}::bigint, ${await lastGivenId(tx, table)}::bigint))`.execute(
      tx,
    )
    return
  }
  const { numAffectedRows = 0n } = await sql`update sqlite_sequence set seq = ${last} where name = ${table}`.execute(tx)
  if (numAffectedRows === 0n) await sql`insert into sqlite_sequence (name, seq) values (${table}, ${last})`.execute(tx)
}

/** Logins of hosts may raise numbers only by a function: see `roles/logins/host-rows.ts`. */
async function mayRaise(tx: Tx, table: string): Promise<boolean> {
  const { rows } = await sql<{ may: boolean }>`
    select has_sequence_privilege(${`${table}_id_seq`}, 'update') as may`.execute(tx)
  return rows[0]?.may === true
}
