/** Which rows of a list are asked for: a page by its number, or those behind a row. */
export interface RowsAsked {
  readonly perPage: number
  readonly offset: number
  /** Id of the row before; 0: from the beginning. */
  readonly after?: number | undefined
}

interface Rows {
  where(column: never, operator: '<' | '>', value: never): unknown
  limit(most: number): unknown
  offset(rows: number): unknown
}

/**
 * Bounds a query to the rows that are asked for. It is in order of the column already, unless there are none behind another.
 * @param order of the list by the column
 */
export function rowsOfPage<Query extends Rows>(
  query: Query,
  { perPage, offset, after }: RowsAsked,
  { column, order }: { readonly column: string; readonly order: 'asc' | 'desc' },
): Query {
  const limited = query.limit(perPage) as Query
  if (after === undefined) return limited.offset(offset) as Query
  if (after === 0) return limited
  return limited.where(column as never, order === 'asc' ? '>' : '<', after as never) as Query
}
