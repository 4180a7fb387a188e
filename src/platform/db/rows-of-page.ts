/** The requested rows of a list: a page by its number, or the rows after a given one. */
export interface RowsAsked {
  readonly perPage: number
  readonly offset: number
  /** The id of the row before, or 0 to start at the beginning. */
  readonly after?: number | undefined
}

interface Rows {
  where(column: never, operator: '<' | '>', value: never): unknown
  limit(most: number): unknown
  offset(rows: number): unknown
}

/**
 * Limits a query to the requested rows. The query must already be ordered by the column, unless the rows after another
 * one are requested.
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
