import type { Connection } from 'mysql2/promise'
import { UnreadableSql } from '../../site-database/sql/sql-tokens.ts'
import { rowsOf } from '../server/connect.ts'

/** Warnings that an INSERT of a load may cause without changing a value of the dump. */
export interface MayWarn {
  /** Names of generated columns, in lower case. The server computes the same values as before. */
  readonly generated: ReadonlySet<string>
  /**
   * Where an ENUM or a SET has an empty text, by {@link choiceIn}. The server keeps it, and warns that it is not a
   * valid choice.
   */
  readonly empty: ReadonlySet<string>
  /** Whether rows with an existing key are skipped, as the dump says. */
  readonly ignoresRows?: boolean
}

export const choiceIn = (column: string, row: number): string => `${row} ${column.toLowerCase()}`

/** "Data truncated for column 'a' at row 1", "Incorrect … value: '…' for column `database`.`table`.`a` at row 1". */
const OF_COLUMN = /^.*for column (?:'(.*)'|`.*`\.`.*`\.`(.*)`) at row (\d+)$/s

const DUPLICATE = '1062'

/**
 * NULL for a column that does not allow it (1048, 1263), no value for one without a default (1364), a value for a
 * generated one (1906).
 */
const OF_VALUES: readonly string[] = ['1048', '1263', '1364', '1906']

/**
 * Checks the warnings of the last statement. It ran without strict mode, because the server that a dump comes from may
 * have done so too.
 * @throws UnreadableSql when the server stored something other than the dump says
 */
export async function checkWarnings(
  connection: Connection,
  { generated, empty, ignoresRows = false }: MayWarn,
): Promise<void> {
  for (const [level, code = '', message = ''] of await rowsOf(connection, 'SHOW WARNINGS')) {
    if (level === 'Note' || (ignoresRows && code === DUPLICATE)) continue
    const [, one, other, row] = OF_COLUMN.exec(message) ?? []
    const column = one ?? other
    // A warning without a column is about an expression, which only generated columns have.
    const changesNothing =
      column === undefined
        ? generated.size > 0 && !OF_VALUES.includes(code)
        : generated.has(column.toLowerCase()) || empty.has(choiceIn(column, Number(row)))
    if (!changesNothing) throw new UnreadableSql(message)
  }
}
