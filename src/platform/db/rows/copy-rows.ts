import { isDeepStrictEqual } from 'node:util'
import { OperatorError } from '../../operator-error.ts'
import { type Row, type RowSource, type RowTarget, rowText, type Table } from './table-rows.ts'

/** How far a copy or a comparison is. */
export interface RowProgress {
  readonly table: string
  /** Rows of this table that are done. */
  readonly rows: number
}

export type OnRows = (progress: RowProgress) => void

export interface Copied {
  readonly tables: number
  readonly rows: number
}

/** Two databases that should be the same are not. */
export class RowsDiffer extends Error {
  override readonly name = 'RowsDiffer'
}

/**
 * Makes the target's tables those of the source: what migrations have put into them goes. Nothing is left out.
 * @throws RowsDiffer when they have not the same tables and columns; whatever a database says of a row that it does not take
 */
export async function copyRows(from: RowSource, to: RowTarget, onRows: OnRows = () => {}): Promise<Copied> {
  const tables = await sameTables(from, to)
  for (const table of tables.toReversed()) await to.clear(table)
  let all = 0
  for (const table of tables) {
    let rows = 0
    for await (const batch of from.rows(table)) {
      await to.insert(table, batch).catch((error) => refused(error, table))
      rows += batch.length
      onRows({ table: table.name, rows })
    }
    if (table.isNumbered) await to.raiseIds(table, await from.lastId(table))
    all += rows
  }
  return { tables: tables.length, rows: all }
}

/** A row that the new database does not take, by its types or rules (PostgreSQL's classes 22 and 23), is a fault of what it holds. */
function refused(error: unknown, { name }: Table): never {
  const { code, message } = error as { code?: string; message?: string }
  if (!/^2[23]/.test(code ?? '')) throw error
  throw new OperatorError(`The new database does not take a row of the table ${name}: ${message}.`, { cause: error })
}

/**
 * Goes through both in order of their keys, row beside row.
 * @throws RowsDiffer with the first difference
 */
export async function compareRows(from: RowSource, to: RowSource, onRows: OnRows = () => {}): Promise<Copied> {
  const tables = await sameTables(from, to)
  let all = 0
  for (const table of tables) {
    const others = oneByOne(to.rows(table))
    let rows = 0
    for await (const batch of from.rows(table)) {
      for (const row of batch) mustBeSame(table, row, (await others.next()).value)
      rows += batch.length
      onRows({ table: table.name, rows })
    }
    mustBeSame(table, undefined, (await others.next()).value)
    if (table.isNumbered && (await to.lastId(table)) < (await from.lastId(table)))
      throw new RowsDiffer(`The table ${table.name} would give out ids again that were given out`)
    all += rows
  }
  return { tables: tables.length, rows: all }
}

async function* oneByOne(batches: AsyncIterable<readonly Row[]>): AsyncGenerator<Row, undefined> {
  for await (const batch of batches) yield* batch
  return undefined
}

function mustBeSame(table: Table, one: Row | undefined, other: Row | undefined): void {
  if (one && other ? rowText(one) === rowText(other) : one === other) return
  throw new RowsDiffer(`The table ${table.name} differs at the row ${keyText(table, (one ?? other) as Row)}`)
}

/** The row's primary key in words; values of other columns may be nobody's business. */
const keyText = (table: Table, row: Row): string =>
  table.key.map((name) => `${name} = ${row[table.columns.findIndex((column) => column.name === name)]}`).join(', ')

async function sameTables(from: RowSource, to: RowSource): Promise<readonly Table[]> {
  const [own, others] = await Promise.all([from.tables(), to.tables()])
  const shape = (tables: readonly Table[]) => tables.map(({ name, columns, key }) => ({ name, columns, key }))
  if (!isDeepStrictEqual(shape(own), shape(others)))
    throw new RowsDiffer('The tables of the two databases are not the same')
  return own
}
