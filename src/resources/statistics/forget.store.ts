import { sql } from 'kysely'
import type { Tx } from '../../platform/db/database.ts'

/**
 * Deletes the visitors of days before a day, then the salts of these days.
 * @returns how many rows; call again until it is 0
 */
export async function forgetVisitors(tx: Tx, beforeDay: number, most: number): Promise<number> {
  const { rows } = await sql<{
    day: number
  }>`select day from visitors where day < ${beforeDay} order by day limit 1`.execute(tx)
  const [oldest] = rows
  if (!oldest) {
    await tx.deleteFrom('visitor_days').where('day', '<', beforeDay).execute()
    return 0
  }
  const some = tx
    .selectFrom('visitors')
    .select(['day', 'site_id', 'visitor'])
    .where('day', '=', oldest.day)
    .orderBy('site_id')
    .orderBy('visitor')
    .limit(most)
  const { numDeletedRows } = await tx
    .deleteFrom('visitors')
    .where(({ refTuple }) => sql<boolean>`${refTuple('day', 'site_id', 'visitor')} in (${some})`)
    .executeTakeFirst()
  return Number(numDeletedRows)
}

/** The day of the row with the views of all merged days. */
const LONG_AGO = 0

/**
 * Merges days before a day into one row a site, so that the total of each site stays the same.
 * @returns how many days it merged; call again until it is 0
 */
export async function foldOldDays(tx: Tx, beforeDay: number, most: number): Promise<number> {
  const old = await tx
    .selectFrom('page_view_days')
    .selectAll()
    .where('day', '>', LONG_AGO)
    .where('day', '<', beforeDay)
    .orderBy('day')
    .limit(most)
    .execute()
  for (const [siteId, days] of Map.groupBy(old, (row) => row.site_id)) {
    const [views, people] = [sum(days.map((day) => day.views)), sum(days.map((day) => day.people))]
    await tx
      .deleteFrom('page_view_days')
      .where('site_id', '=', siteId)
      .where(
        'day',
        'in',
        days.map(({ day }) => day),
      )
      .execute()
    await tx
      .insertInto('page_view_days')
      .values({ site_id: siteId, day: LONG_AGO, views, people })
      .onConflict((conflict) =>
        conflict.columns(['site_id', 'day']).doUpdateSet({
          views: sql`page_view_days.views + ${views}`,
          people: sql`page_view_days.people + ${people}`,
        }),
      )
      .execute()
  }
  return old.length
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + Number(each), 0)

/**
 * Deletes statistics of sites that were deleted before a time and can no longer be restored from the trash: an edge may
 * have reported visits later.
 * @returns of how many sites; call again until it is 0
 */
export async function forgetDeletedSites(tx: Tx, before: number, most: number): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    select id from sites where deleted_at is not null and deleted_at < ${before} and (
      exists (select 1 from page_view_days where site_id = sites.id) or
      exists (select 1 from site_statistics where site_id = sites.id))
    order by deleted_at limit ${most}`.execute(tx)
  const ids = rows.map(({ id }) => id)
  if (ids.length === 0) return 0
  await deleteStatisticsOf(tx, ids)
  return ids.length
}

export async function deleteStatisticsOf(tx: Tx, siteIds: readonly number[]): Promise<void> {
  for (const table of ['page_view_days', 'site_statistics'] as const)
    await tx.deleteFrom(table).where('site_id', 'in', siteIds).execute()
}

export async function deleteStatisticsOfAccount(tx: Tx, accountId: number): Promise<void> {
  await tx.deleteFrom('account_statistics').where('account_id', '=', accountId).execute()
}
