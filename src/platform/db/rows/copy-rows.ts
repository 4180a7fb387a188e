import { isDeepStrictEqual } from 'node:util'
import { OperatorError } from '../../operator-error.ts'
import { type RowSource, type RowTarget, rowText, type Table, type TableRow } from './table-rows.ts'

/** The progress of a copy or a comparison. */
export interface RowProgress {
  readonly table: string
  /** How many rows of this table are done. */
  readonly rows: number
}

export type OnRows = (progress: RowProgress) => void

export interface CopiedRows {
  readonly tables: number
  readonly rows: number
}

/** Two databases differ that should be the same. */
export class RowsDiffer extends Error {
  override readonly name = 'RowsDiffer'
}

/**
 * Replaces the rows of the target's tables with those of the source, including rows that migrations have inserted.
 * Nothing is left out.
 * @throws RowsDiffer when their tables or columns differ, and the database's error for a row that it refuses
 */
export async function copyRows(from: RowSource, to: RowTarget, onRows: OnRows = () => {}): Promise<CopiedRows> {
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

/**
 * Reports a row that the new database refuses because of its types or rules (PostgreSQL's classes 22 and 23), which is
 * a fault in the data.
 */
function refused(error: unknown, { name }: Table): never {
  const { code, message } = error as { code?: string; message?: string }
  if (!/^2[23]/.test(code ?? '')) throw error
  throw new OperatorError(`The new database does not take a row of the table ${name}: ${message}.`, { cause: error })
}

/**
 * Compares both databases row by row, in the order of their keys.
 * @throws RowsDiffer with the first difference
 */
export async function compareRows(from: RowSource, to: RowSource, onRows: OnRows = () => {}): Promise<CopiedRows> {
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

async function* oneByOne(batches: AsyncIterable<readonly TableRow[]>): AsyncGenerator<TableRow, undefined> {
  for await (const batch of batches) yield* batch
  return undefined
}

function mustBeSame(table: Table, one: TableRow | undefined, other: TableRow | undefined): void {
  if (one && other ? rowText(one) === rowText(other) : one === other) return
  throw new RowsDiffer(`The table ${table.name} differs at the row ${keyText(table, (one ?? other) as TableRow)}`)
}

/** Describes the row by its primary key, because other columns may be confidential. */
const keyText = (table: Table, row: TableRow): string =>
  table.key.map((name) => `${name} = ${row[table.columns.findIndex((column) => column.name === name)]}`).join(', ')

async function sameTables(from: RowSource, to: RowSource): Promise<readonly Table[]> {
  const [own, others] = await Promise.all([from.tables(), to.tables()])
  const shape = (tables: readonly Table[]) => tables.map(({ name, columns, key }) => ({ name, columns, key }))
  if (!isDeepStrictEqual(shape(own), shape(others)))
    throw new RowsDiffer('The tables of the two databases are not the same')
  return own
}
