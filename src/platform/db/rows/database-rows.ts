import { type RawBuilder, sql } from 'kysely'
import { isPostgres, type Tx } from '../database.ts'
import { lastGivenId, raiseIds } from '../sequences.ts'
import {
  type ColumnType,
  type ColumnValue,
  inOrderOfReference,
  type RowTarget,
  type Table,
  type TableRow,
} from './table-rows.ts'

/** How many rows are in memory at a time. */
const BATCH = 500

/** The migrator's own tables and those of the log store, which decides where its entries are kept. */
const NOT_OURS = /^(kysely_|sqlite_|log_)/

/** Returns the tables of the database that a transaction is on. */
export function databaseRows(tx: Tx): RowTarget {
  const { tables, rows, insert } = isPostgres(tx) ? onPostgres(tx) : onSqlite(tx)
  return {
    async tables() {
      const found = (await tables()).filter(({ name }) => !NOT_OURS.test(name))
      const named = found.map((table) => ({ ...table, columns: table.columns.toSorted(byName) }))
      return inOrderOfReference(named.toSorted(byName))
    },
    rows,
    insert: async (table, all) => {
      if (all.length > 0) await insert(table, all)
    },
    async clear(table) {
      await sql`delete from ${sql.table(table.name)}`.execute(tx)
    },
    lastId: (table) => lastGivenId(tx, table.name),
    raiseIds: (table, last) => raiseIds(tx, table.name, last),
  }
}

const byName = (a: { name: string }, b: { name: string }): number => (a.name < b.name ? -1 : 1)

type Access = Pick<RowTarget, 'rows' | 'insert'> & { tables(): Promise<Table[]> }

function typeOf(declared: string, of: string): ColumnType {
  const type = { integer: 'integer', bigint: 'integer', text: 'text', blob: 'blob', bytea: 'blob' }[declared]
  if (!type) throw new Error(`${of} has the type ${declared}, which no copy knows`)
  return type as ColumnType
}

/** Selects integers as text, because they may have 64 bits. */
const selected = (table: Table, text: RawBuilder<unknown>) =>
  sql.join(
    table.columns.map(({ name, type }, place) => {
      const column = sql.ref(name)
      return sql`${type === 'integer' ? sql`cast(${column} as ${text})` : column} as ${sql.ref(`c${place}`)}`
    }),
  )

const rowOf = (table: Table, values: Readonly<Record<string, unknown>>): TableRow =>
  table.columns.map(({ type }, place) => {
    const value = values[`c${place}`] as string | Uint8Array | null
    return type === 'integer' && value !== null ? integer(value, table) : value
  })

function integer(text: string | Uint8Array, table: Table): bigint {
  try {
    return BigInt(String(text))
  } catch {
    throw new Error(`The table ${table.name} has ${JSON.stringify(text)} where an integer belongs`)
  }
}

function onSqlite(tx: Tx): Access {
  return {
    async tables() {
      const { rows } = await sql<{ name: string; text: string }>`
        select name, sql as text from sqlite_schema where type = 'table'`.execute(tx)
      return Promise.all(rows.map(({ name, text }) => sqliteTable(tx, name, text)))
    },
    async *rows(table) {
      const key = sql.join(table.key.map((name) => sql.ref(name)))
      const places = table.key.map((name) => table.columns.findIndex((column) => column.name === name))
      for (let last: TableRow | undefined; ; ) {
        const after = last && sql`where (${key}) > (${sql.join(places.map((place) => (last as TableRow)[place]))})`
        const { rows } = await sql<Record<string, unknown>>`
          select ${selected(table, sql`text`)} from ${sql.table(table.name)} ${after ?? sql``} order by ${key} limit ${BATCH}`.execute(
          tx,
        )
        const batch = rows.map((row) => rowOf(table, row))
        if (batch.length > 0) yield batch
        if (batch.length < BATCH) return
        last = batch.at(-1)
      }
    },
    async insert(table, rows) {
      const columns = sql.join(table.columns.map(({ name }) => sql.ref(name)))
      for (const row of rows)
        await sql`insert into ${sql.table(table.name)} (${columns}) values (${sql.join(row)})`.execute(tx)
    },
  }
}

async function sqliteTable(tx: Tx, name: string, text: string): Promise<Table> {
  const { rows: columns } = await sql<{ name: string; type: string; pk: number }>`
    select name, lower(type) as type, pk from pragma_table_info(${name})`.execute(tx)
  const { rows: references } = await sql<{ table: string }>`
    select distinct "table" from pragma_foreign_key_list(${name})`.execute(tx)
  const isOurs = !NOT_OURS.test(name)
  return {
    name,
    columns: columns.map((column) => ({
      name: column.name,
      type: isOurs ? typeOf(column.type, `${name}.${column.name}`) : 'text',
    })),
    key: keyOf(columns),
    isNumbered: /\bautoincrement\b/i.test(text),
    refersTo: references.map(({ table }) => table),
  }
}

const keyOf = (columns: readonly { name: string; pk: number | null }[]): string[] =>
  columns
    .filter(({ pk }) => pk)
    .toSorted((a, b) => (a.pk as number) - (b.pk as number))
    .map(({ name }) => name)

function onPostgres(tx: Tx): Access {
  return {
    async tables() {
      const { rows } = await sql<PostgresColumn>`
        select class.relname as table, attname as name, format_type(atttypid, atttypmod) as type, attidentity <> '' as numbered,
          array_position(key.conkey, attnum) as pk,
          array(select distinct other.relname::text from pg_constraint join pg_class other on other.oid = confrelid
            where conrelid = class.oid and contype = 'f') as references
        from pg_class class join pg_attribute on attrelid = class.oid and attnum > 0 and not attisdropped
        left join pg_constraint key on key.conrelid = class.oid and key.contype = 'p'
        where relkind = 'r' and relnamespace = current_schema()::regnamespace order by relname, attnum`.execute(tx)
      const ours = rows.filter((row) => !NOT_OURS.test(row.table))
      return [...Map.groupBy(ours, (row) => row.table)].map(([name, columns]) => postgresTable(name, columns))
    },
    async *rows(table) {
      const key = table.key.map((name) => {
        const isText = table.columns.some((column) => column.name === name && column.type === 'text')
        // Order by bytes, as SQLite does.
        return isText ? sql`${sql.ref(name)} collate "C"` : sql.ref(name)
      })
      await sql`declare rows_of_table no scroll cursor for
        select ${selected(table, sql`text`)} from ${sql.table(table.name)} order by ${sql.join(key)}`.execute(tx)
      try {
        for (;;) {
          const { rows } = await sql<Record<string, unknown>>`fetch ${sql.lit(BATCH)} from rows_of_table`.execute(tx)
          if (rows.length === 0) break
          yield rows.map((row) => rowOf(table, row))
        }
      } finally {
        // After an error the transaction is void, and the cursor with it.
        await sql`close rows_of_table`.execute(tx).catch(() => {})
      }
    },
    async insert(table, rows) {
      const arrays = table.columns.map(({ type }, place) => {
        const values = rows.map((row) => parameter(row[place] as ColumnValue))
        return sql`${values}::${sql.raw({ integer: 'bigint', text: 'text', blob: 'bytea' }[type])}[]`
      })
      const columns = sql.join(table.columns.map(({ name }) => sql.ref(name)))
      await sql`insert into ${sql.table(table.name)} (${columns}) select * from unnest(${sql.join(arrays)})`.execute(tx)
    },
  }
}

/** Converts a value, because pg writes bytes in an array as hexadecimal digits and does not support a bigint in one. */
const parameter = (value: ColumnValue) => (typeof value === 'bigint' ? String(value) : value)

interface PostgresColumn {
  readonly table: string
  readonly name: string
  readonly type: string
  readonly numbered: boolean
  readonly pk: number | null
  readonly references: readonly string[]
}

const postgresTable = (name: string, columns: readonly PostgresColumn[]): Table => ({
  name,
  columns: columns.map((column) => ({ name: column.name, type: typeOf(column.type, `${name}.${column.name}`) })),
  key: keyOf(columns),
  isNumbered: columns.some(({ numbered }) => numbered),
  refersTo: columns[0]?.references ?? [],
})
