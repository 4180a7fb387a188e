import { type RawBuilder, type Selectable, sql } from 'kysely'
import type { Tx } from '../../platform/db/database.ts'
import { isOneOf, listFor } from '../../platform/db/precompiled.ts'
import { type RowsAsked, rowsOfPage } from '../../platform/db/rows-of-page.ts'
import type { LeavingAccount } from '../kit/account-hooks.ts'
import type { ActivityRow } from './tables.ts'

/** Entry of an activity log. */
export interface ActivityEntry {
  readonly id: number
  readonly action: string
  /** Description of the action at the time when the entry was written. */
  readonly description: string
  readonly message: string
  readonly source: 'ui' | 'api.v1' | 'systems'
  readonly actorEmail: string | null
  readonly ipAddress: string | null
  readonly userAgent: string
  readonly createdAt: number
  readonly siteId: number | null
}

/** Entry with the account whose logs contain it. */
export interface PlacedEntry extends ActivityEntry {
  readonly accountId: number
}

/** Selects a log. The log of an account also has the entries of all its sites. */
export type LogOf = { readonly accountId: number } | { readonly siteId: number }

export interface EntryFilter {
  readonly column: 'action' | 'actor_email' | 'ip_address' | 'source'
  readonly operator: 'equals' | 'contains'
  /** Compared without regard to case. */
  readonly value: string
}

/** Condition that a column has one of some values of the log. */
interface OneOfFilter {
  readonly column: EntryFilter['column']
  readonly operator: 'one of'
  readonly values: readonly string[]
}

/** Limit of different values of a column that are searched for a part. Above it, the entries are searched. */
const MOST_VALUES = 1000
/**
 * Up to this many entries are collected and sorted. More are so frequent that walking the log finds a page of them
 * sooner.
 */
const FEW_ENTRIES = 1000

const entry = (row: Selectable<ActivityRow>): ActivityEntry => ({
  id: row.id,
  action: row.action,
  description: row.description,
  message: row.message,
  source: row.source,
  actorEmail: row.actor_email,
  ipAddress: row.ip_address,
  userAgent: row.user_agent,
  createdAt: row.created_at,
  siteId: row.site_id,
})

/** Returns entries of all logs, in order of their numbers. */
export async function entriesBehind(tx: Tx, after: number, limit: number): Promise<PlacedEntry[]> {
  const rows = await tx.selectFrom('activity').selectAll().where('id', '>', after).orderBy('id').limit(limit).execute()
  return rows.map((row) => ({ ...entry(row), accountId: row.account_id }))
}

/** Returns the number of the newest entry, or 0 if there is none. */
export async function newestEntry(tx: Tx): Promise<number> {
  const { id } = await tx
    .selectFrom('activity')
    .select(({ fn }) => fn.max('id').as('id'))
    .executeTakeFirstOrThrow()
  return Number(id ?? 0)
}

/** Returns entries of a log, newest first. */
export async function listEntries(
  tx: Tx,
  log: LogOf,
  filters: readonly EntryFilter[],
  page: RowsAsked,
): Promise<ActivityEntry[]> {
  const rows = await entriesPage(tx, log, filters, page).execute()
  return rows.map(entry)
}

/** Returns a page of a log, newest first, with the total count. */
export async function pageOfEntries(
  tx: Tx,
  log: LogOf,
  filters: readonly EntryFilter[],
  page: RowsAsked,
): Promise<{ entries: ActivityEntry[]; total: number }> {
  const found = await valuesWith(tx, log, filters)
  if (found?.values.length === 0) return { entries: [], total: 0 }
  const { count } = await entriesCount(tx, log, found ? [found] : filters).executeTakeFirstOrThrow()
  const total = Number(count)
  const isRare = found !== undefined && total <= FEW_ENTRIES
  const rows = await entriesPage(tx, log, isRare ? [found] : filters, page, isRare).execute()
  return { entries: rows.map(entry), total }
}

/**
 * Returns the values of the log that contain the filter's text. A log has many entries, but few actions, people and
 * addresses, and the next different value is one step down its index.
 * @returns `undefined` if that is not faster: for another kind of filter, for several, or for too many values
 */
async function valuesWith(tx: Tx, log: LogOf, filters: readonly EntryFilter[]): Promise<OneOfFilter | undefined> {
  const [filter] = filters
  if (filters.length !== 1 || filter?.operator !== 'contains') return undefined
  const { column, value } = filter
  const { rows } = await valuesOfLog(log, column).execute(tx)
  if (rows.length > MOST_VALUES) return undefined
  const part = value.toLowerCase()
  return { column, operator: 'one of', values: rows.flatMap((row) => (row.value.includes(part) ? [row.value] : [])) }
}

/**
 * Returns the query for the different values of a log, at most one more than {@link MOST_VALUES}. Exported for the test
 * of its plan.
 */
export function valuesOfLog(log: LogOf, column: EntryFilter['column']): RawBuilder<{ value: string }> {
  const [owner, id] = 'siteId' in log ? ['site_id', log.siteId] : ['account_id', log.accountId]
  const next = sql`select min(${sql.ref(column)}) from activity where ${sql.ref(owner)} = ${id}`
  return sql`with recursive found(value) as (
      ${next}
      union all
      select (${next} and ${sql.ref(column)} > found.value) from found where found.value is not null
    )
    select value from found where value is not null limit ${sql.lit(MOST_VALUES + 1)}`
}

/**
 * Returns the query of {@link listEntries}. Exported for the test of its plan. Selects ids first, from an index only.
 * For whole entries, PostgreSQL would rather walk the primary key, which is the whole table for an account without
 * recent ones.
 * @param isRare there are few, so they are sorted, and no index of the order is used (`+id` prevents it)
 */
export const entriesPage = (
  tx: Tx,
  log: LogOf,
  filters: readonly (EntryFilter | OneOfFilter)[],
  page: RowsAsked,
  isRare = false,
) =>
  tx
    .selectFrom(
      rowsOfPage(
        filtered(tx, log, filters)
          .select('id')
          .orderBy(isRare ? sql`+id` : 'id', 'desc'),
        page,
        { column: 'id', order: 'desc' },
      ).as('page'),
    )
    .innerJoin('activity', 'activity.id', 'page.id')
    .selectAll('activity')
    .orderBy('page.id', 'desc')

/** Returns the query for the number of entries. Exported for the test of its plan. */
export const entriesCount = (tx: Tx, log: LogOf, filters: readonly (EntryFilter | OneOfFilter)[]) =>
  filtered(tx, log, filters).select(({ fn }) => fn.countAll<number>().as('count'))

function filtered(tx: Tx, log: LogOf, filters: readonly (EntryFilter | OneOfFilter)[]) {
  const all = tx.selectFrom('activity')
  let query = 'siteId' in log ? all.where('site_id', '=', log.siteId) : all.where('account_id', '=', log.accountId)
  for (const filter of filters) {
    if (filter.operator === 'one of') {
      query = query.where(isOneOf(tx, filter.column, listFor(tx, filter.values), 'text'))
      continue
    }
    const { column, operator, value } = filter
    // All four columns are stored in lower case.
    const text = value.toLowerCase()
    query =
      operator === 'equals'
        ? query.where(sql.ref(column), '=', text)
        : query.where(sql<boolean>`${sql.ref(column)} like ${`%${literally(text)}%`} escape '\\'`)
  }
  return query
}

/** Escapes `%` and `_` from the client. */
const literally = (text: string): string => text.replace(/[\\%_]/g, '\\$&')

/**
 * Deletes entries from before a time, oldest first.
 * @returns how many it deleted. Call again until it is 0
 */
export async function forgetEntries(tx: Tx, before: number, most: number): Promise<number> {
  const old = tx.selectFrom('activity').select('id').where('created_at', '<', before).orderBy('created_at').limit(most)
  const { numDeletedRows } = await tx.deleteFrom('activity').where('id', 'in', old).executeTakeFirst()
  return Number(numDeletedRows)
}

/**
 * Removes entries from before a time from the logs of their sites. Those of the accounts keep them.
 * @returns how many it removed. Call again until it is 0
 */
export async function leaveSiteLogs(tx: Tx, before: number, most: number): Promise<number> {
  const old = tx
    .selectFrom('activity')
    .select('id')
    .where('site_id', 'is not', null)
    .where('created_at', '<', before)
    .orderBy('created_at')
    .limit(most)
  const { numUpdatedRows } = await tx
    .updateTable('activity')
    .set({ site_id: null })
    .where('id', 'in', old)
    .executeTakeFirst()
  return Number(numUpdatedRows)
}

/** Returns when a person last did something with a site, according to the log of the site. */
export async function lastEntry(
  tx: Tx,
  siteId: number,
  { action, email }: { readonly action: string; readonly email: string },
): Promise<number | undefined> {
  const entry = await tx
    .selectFrom('activity')
    .select('created_at')
    .where('site_id', '=', siteId)
    .where('action', '=', action)
    .where('actor_email', '=', email)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return entry?.created_at
}

/**
 * Gives entries of an account that is being removed to the operator's log, oldest first. They begin with its address.
 * @returns how many it moved. Call again until it is 0
 */
export async function inheritEntries(tx: Tx, leaving: LeavingAccount, most: number): Promise<number> {
  const oldest = tx
    .selectFrom('activity')
    .select('id')
    .where('account_id', '=', leaving.accountId)
    .orderBy('id')
    .limit(most)
  const { numUpdatedRows } = await tx
    .updateTable('activity')
    .set({ account_id: leaving.heirId, message: sql<string>`cast(${`${leaving.email}: `} as text) || message` })
    .where('id', 'in', oldest)
    .executeTakeFirst()
  return Number(numUpdatedRows)
}
