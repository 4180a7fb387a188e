/*
 * The rows of all tables in a form that both databases share, for copies from one to the other and for backups. No
 * table is named here: the list comes from the database.
 */

/** A 64-bit integer, a text, bytes, or null. Stead's tables have no other types. */
export type ColumnValue = bigint | string | Uint8Array | null

export type ColumnType = 'integer' | 'text' | 'blob'

export interface Column {
  readonly name: string
  readonly type: ColumnType
}

export interface Table {
  readonly name: string
  /** In order of name, because two databases may have added them in different orders. */
  readonly columns: readonly Column[]
  /** The columns of the primary key, in its order. */
  readonly key: readonly string[]
  /** Whether the database assigns its ids, each only once. */
  readonly isNumbered: boolean
  /** The tables that its rows refer to. */
  readonly refersTo: readonly string[]
}

/** The values in the order of the table's columns. */
export type TableRow = readonly ColumnValue[]

/** A snapshot of a database, or a database inside one transaction. */
export interface RowSource {
  /** Returns the tables, those that others refer to first. */
  tables(): Promise<readonly Table[]>
  /** Yields rows in order of the primary key, texts by their bytes, in small batches. */
  rows(table: Table): AsyncIterable<readonly TableRow[]>
  /** Returns the highest id that was ever assigned. */
  lastId(table: Table): Promise<number>
}

/** A database that is filled inside one transaction. */
export interface RowTarget extends RowSource {
  clear(table: Table): Promise<void>
  insert(table: Table, rows: readonly TableRow[]): Promise<void>
  /** Makes every new id higher than this. */
  raiseIds(table: Table, last: number): Promise<void>
}

/** Returns a text that is the same for equal rows, and only for those. */
export const rowText = (row: TableRow): string =>
  JSON.stringify(
    row.map((value) => {
      if (typeof value === 'bigint') return { i: String(value) }
      return value instanceof Uint8Array ? { b: Buffer.from(value).toString('base64') } : value
    }),
  )

/**
 * Parses the output of {@link rowText}.
 * @throws for any other text
 */
export function rowOfText(text: string): TableRow {
  const values: unknown = JSON.parse(text)
  if (!Array.isArray(values)) throw new Error('not a row')
  return values.map((value) => {
    if (value === null || typeof value === 'string') return value
    if (typeof value?.i === 'string') return BigInt(value.i)
    if (typeof value?.b === 'string') return Buffer.from(value.b, 'base64')
    throw new Error('not a value of a row')
  })
}

/** Sorts tables so that each comes after those that it refers to. */
export function inOrderOfReference(tables: readonly Table[]): Table[] {
  const ordered = new Map<string, Table>()
  const waiting = new Map(tables.map((table) => [table.name, table]))
  while (waiting.size > 0) {
    const ready = [...waiting.values()].filter(({ name, refersTo }) =>
      refersTo.every((other) => other === name || !waiting.has(other)),
    )
    if (ready.length === 0) throw new Error(`Tables refer to each other in a circle: ${[...waiting.keys()].join(', ')}`)
    for (const table of ready) {
      waiting.delete(table.name)
      ordered.set(table.name, table)
    }
  }
  return [...ordered.values()]
}
