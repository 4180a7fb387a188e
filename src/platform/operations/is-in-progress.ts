import { type RawBuilder, sql } from 'kysely'

/**
 * Returns SQL that is 1 if a column names an operation that has not ended, else 0.
 * @param column such as `sites.closed_by`
 * @param type counts only operations of this type
 */
export const isInProgress = (column: string, type?: string): RawBuilder<0 | 1> =>
  sql<0 | 1>`case when exists (select 1 from operations as under_way
    where under_way.id = ${sql.ref(column)} and under_way.finished_at is null
    ${type === undefined ? sql`` : sql`and under_way.type = ${type}`}) then 1 else 0 end`
