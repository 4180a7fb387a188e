import { type Selectable, sql } from 'kysely'
import type { Tx } from '../../platform/db/database.ts'
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
}

/** With whose logs it is in. */
export interface PlacedEntry extends Entry {
  readonly accountId: number
  readonly siteId: number | null
}

/** Whose log: that of an account has the entries of all its sites, too. */
export type LogOf = { readonly accountId: number } | { readonly siteId: number }

export interface EntryFilter {
  readonly column: 'action' | 'actor_email' | 'ip_address' | 'source'
  readonly operator: 'equals' | 'contains'
  /** Compared without regard to case. */
  readonly value: string
}

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
})

/** Of all logs, in the order of their numbers. */
export async function entriesBehind(tx: Tx, after: number, limit: number): Promise<PlacedEntry[]> {
  const rows = await tx.selectFrom('activity').selectAll().where('id', '>', after).orderBy('id').limit(limit).execute()
  return rows.map((row) => ({ ...entry(row), accountId: row.account_id, siteId: row.site_id }))
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
  page: { perPage: number; offset: number },
): Promise<Entry[]> {
  const rows = await entriesPage(tx, log, filters, page).execute()
  return rows.map(entry)
}

/**
 * The query of {@link listEntries}, for the test of its plan. Ids first, from an index alone: PostgreSQL would rather walk the
 * primary key for whole entries, which for an account that has none lately is the whole table.
 */
export const entriesPage = (
  tx: Tx,
  log: LogOf,
  filters: readonly EntryFilter[],
  { perPage, offset }: { perPage: number; offset: number },
) =>
  tx
    .selectFrom(filtered(tx, log, filters).select('id').orderBy('id', 'desc').limit(perPage).offset(offset).as('page'))
    .innerJoin('activity', 'activity.id', 'page.id')
    .selectAll('activity')
    .orderBy('page.id', 'desc')

export async function countEntries(tx: Tx, log: LogOf, filters: readonly EntryFilter[]): Promise<number> {
  return Number((await entriesCount(tx, log, filters).executeTakeFirstOrThrow()).count)
}

/** The query of {@link countEntries}, for the test of its plan. */
export const entriesCount = (tx: Tx, log: LogOf, filters: readonly EntryFilter[]) =>
  filtered(tx, log, filters).select(({ fn }) => fn.countAll<number>().as('count'))

function filtered(tx: Tx, log: LogOf, filters: readonly EntryFilter[]) {
  const all = tx.selectFrom('activity')
  let query = 'siteId' in log ? all.where('site_id', '=', log.siteId) : all.where('account_id', '=', log.accountId)
  for (const { column, operator, value } of filters) {
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
