import type { Connection } from 'mysql2/promise'
import { UnreadableSql } from '../../site-database/sql/tokens.ts'
import { rowsOf } from '../server/connect.ts'

/** What a server may warn about an INSERT of a load without any value of the dump becoming another one. */
export interface MayWarn {
  /** Names of columns that the server computes, in lower case: whatever it makes of them, it made of the same before. */
  readonly generated: ReadonlySet<string>
  /** Where an ENUM or a SET has an empty text, by {@link choiceIn}: the server keeps it so, and warns that it is none of the choices. */
  readonly empty: ReadonlySet<string>
  /** Rows whose key is there already are left out: the dump says so. */
  readonly ignoresRows?: boolean
}

export const choiceIn = (column: string, row: number): string => `${row} ${column.toLowerCase()}`

/** "Data truncated for column 'a' at row 1", "Incorrect … value: '…' for column `database`.`table`.`a` at row 1". */
const OF_COLUMN = /^.*for column (?:'(.*)'|`.*`\.`.*`\.`(.*)`) at row (\d+)$/s

const DUPLICATE = '1062'

/** NULL for a column that takes none (1048, 1263), no value for one that has no default (1364), a value for one that is computed (1906). */
const OF_VALUES: readonly string[] = ['1048', '1263', '1364', '1906']

/**
 * Looks at the warnings of the last statement, which was not strict: the server that a dump comes from was not either.
 * @throws UnreadableSql when it has put in something other than the dump says
 */
export async function checkWarnings(
  connection: Connection,
  { generated, empty, ignoresRows = false }: MayWarn,
): Promise<void> {
  for (const [level, code = '', message = ''] of await rowsOf(connection, 'SHOW WARNINGS')) {
    if (level === 'Note' || (ignoresRows && code === DUPLICATE)) continue
    const [, one, other, row] = OF_COLUMN.exec(message) ?? []
    const column = one ?? other
    // one without a column is of an expression, and only computed columns have any
    const changesNothing =
      column === undefined
        ? generated.size > 0 && !OF_VALUES.includes(code)
        : generated.has(column.toLowerCase()) || empty.has(choiceIn(column, Number(row)))
    if (!changesNothing) throw new UnreadableSql(message)
  }
}
