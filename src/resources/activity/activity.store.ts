import { type RawBuilder, type Selectable, sql } from 'kysely'
import type { Tx } from '../../platform/db/database.ts'
import { isOneOf, listFor } from '../../platform/db/precompiled.ts'
import { type RowsAsked, rowsOfPage } from '../../platform/db/rows-of-page.ts'
import type { ActivityRow } from './tables.ts'

/** One entry of an activity log. */
export interface Entry {
  readonly id: number
  readonly action: string
  /** What the action means; as it was called when the entry was written. */
  readonly description: string
  readonly message: string
  readonly source: 'ui' | 'api.v1' | 'systems'
  readonly actorEmail: string | null
  readonly ipAddress: string | null
  readonly userAgent: string
  readonly createdAt: number
  readonly siteId: number | null
}

/** With whose logs it is in. */
export interface PlacedEntry extends Entry {
  readonly accountId: number
}

/** Whose log: that of an account has the entries of all its sites, too. */
export type LogOf = { readonly accountId: number } | { readonly siteId: number }

export interface EntryFilter {
  readonly column: 'action' | 'actor_email' | 'ip_address' | 'source'
  readonly operator: 'equals' | 'contains'
  /** Compared without regard to case. */
  readonly value: string
}

/** That a column is one of some values of the log. */
interface OneOfFilter {
  readonly column: EntryFilter['column']
  readonly operator: 'one of'
  readonly values: readonly string[]
}

/** Different values of a column up to which a part is looked for in them; beyond, it is looked for in the entries. */
const MOST_VALUES = 1000
/** Up to so many entries are gathered and put in order; more are so frequent that walking the log finds a page of them sooner. */
const FEW_ENTRIES = 1000

const entry = (row: Selectable<ActivityRow>): Entry => ({
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

/** Of all logs, in the order of their numbers. */
export async function entriesBehind(tx: Tx, after: number, limit: number): Promise<PlacedEntry[]> {
  const rows = await tx.selectFrom('activity').selectAll().where('id', '>', after).orderBy('id').limit(limit).execute()
  return rows.map((row) => ({ ...entry(row), accountId: row.account_id }))
}

/** Its number; 0 where there is none. */
export async function newestEntry(tx: Tx): Promise<number> {
  const { id } = await tx
    .selectFrom('activity')
    .select(({ fn }) => fn.max('id').as('id'))
    .executeTakeFirstOrThrow()
  return Number(id ?? 0)
}

/** Newest first. */
export async function listEntries(
  tx: Tx,
  log: LogOf,
  filters: readonly EntryFilter[],
  page: RowsAsked,
): Promise<Entry[]> {
  const rows = await entriesPage(tx, log, filters, page).execute()
  return rows.map(entry)
}

/** A page of a log, newest first, and how many there are on all pages. */
export async function pageOfEntries(
  tx: Tx,
  log: LogOf,
  filters: readonly EntryFilter[],
  page: RowsAsked,
): Promise<{ entries: Entry[]; total: number }> {
  const found = await valuesWith(tx, log, filters)
  if (found?.values.length === 0) return { entries: [], total: 0 }
  const { count } = await entriesCount(tx, log, found ? [found] : filters).executeTakeFirstOrThrow()
  const total = Number(count)
  const isRare = found !== undefined && total <= FEW_ENTRIES
  const rows = await entriesPage(tx, log, isRare ? [found] : filters, page, isRare).execute()
  return { entries: rows.map(entry), total }
}

/**
 * The values of the log with the part that a filter asks for: a log has many entries, but few actions, people and addresses, and
 * the next different value is one step down its index.
 * @returns `undefined` where that is no shorter: with another kind of filter, with several, with more values than a few
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

/** The query for the different values of a log, one more than {@link MOST_VALUES} at most; for the test of its plan. */
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
 * The query of {@link listEntries}, for the test of its plan. Ids first, from an index alone: PostgreSQL would rather walk the
 * primary key for whole entries, which for an account that has none lately is the whole table.
 * @param isRare there are few: they are put in order, and no index of the order is walked for them (`+id` is none)
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

/** How many entries of a log there are; for the test of its plan. */
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
    // all four columns hold lower case only: see where they are written
    const text = value.toLowerCase()
    query =
      operator === 'equals'
        ? query.where(sql.ref(column), '=', text)
        : query.where(sql<boolean>`${sql.ref(column)} like ${`%${literally(text)}%`} escape '\\'`)
  }
  return query
}

/** `%` and `_` of the client stand for themselves. */
const literally = (text: string): string => text.replace(/[\\%_]/g, '\\$&')

/**
 * Deletes entries from before a time, the oldest first.
 * @returns how many; call again until it is 0
 */
export async function forgetEntries(tx: Tx, before: number, most: number): Promise<number> {
  const old = tx.selectFrom('activity').select('id').where('created_at', '<', before).orderBy('created_at').limit(most)
  const { numDeletedRows } = await tx.deleteFrom('activity').where('id', 'in', old).executeTakeFirst()
  return Number(numDeletedRows)
}

/**
 * Takes entries from before a time out of the logs of their sites; those of the accounts keep them.
 * @returns how many; call again until it is 0
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

/** When a person last did something with a site, as far as the log of the site knows. */
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
