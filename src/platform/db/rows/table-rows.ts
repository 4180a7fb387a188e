/*
 * Rows of all tables as both databases have them: what a copy from one to the other, and a backup of either, are made of. No table is
 * named here: what there is, the database says.
 */

/** An integer of 64 bits, a text, bytes, or nothing: other types Stead's tables have none of. */
export type Value = bigint | string | Uint8Array | null

export type ColumnType = 'integer' | 'text' | 'blob'

export interface Column {
  readonly name: string
  readonly type: ColumnType
}

export interface Table {
  readonly name: string
  /** In order of name: two databases may have added them in another one. */
  readonly columns: readonly Column[]
  /** Columns of the primary key, in its order. */
  readonly key: readonly string[]
  /** Its ids are given out by the database, each once. */
  readonly isNumbered: boolean
  /** Tables that its rows refer to. */
  readonly refersTo: readonly string[]
}

/** Values in the order of the table's columns. */
export type Row = readonly Value[]

/** A database at one moment, or inside one transaction. */
export interface RowSource {
  /** Those that others refer to first. */
  tables(): Promise<readonly Table[]>
  /** In order of the primary key, texts by their bytes; a batch is small. */
  rows(table: Table): AsyncIterable<readonly Row[]>
  /** The highest id that was ever given out. */
  lastId(table: Table): Promise<number>
}

/** A database that is filled inside one transaction. */
export interface RowTarget extends RowSource {
  clear(table: Table): Promise<void>
  insert(table: Table, rows: readonly Row[]): Promise<void>
  /** From now on every new id is higher. */
  raiseIds(table: Table, last: number): Promise<void>
}

/** Equal for equal rows, and for no others. */
export const rowText = (row: Row): string =>
  JSON.stringify(
    row.map((value) => {
      if (typeof value === 'bigint') return { i: String(value) }
      return value instanceof Uint8Array ? { b: Buffer.from(value).toString('base64') } : value
    }),
  )

/** @throws when it is not what {@link rowText} has made */
export function rowOfText(text: string): Row {
  const values: unknown = JSON.parse(text)
  if (!Array.isArray(values)) throw new Error('not a row')
  return values.map((value) => {
    if (value === null || typeof value === 'string') return value
    if (typeof value?.i === 'string') return BigInt(value.i)
    if (typeof value?.b === 'string') return Buffer.from(value.b, 'base64')
    throw new Error('not a value of a row')
  })
}

/** Tables so that each comes after those that it refers to. */
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
