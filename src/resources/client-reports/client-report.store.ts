import { sql } from 'kysely'
import type { Tx } from '../../platform/db/database.ts'
import type { ReportContents } from './contents.ts'
import type { Month } from './month.ts'

/** Stores the report of a month that has ended. One that exists stays. */
export async function storeReport(
  tx: Tx,
  { siteId, month, contents, now }: { siteId: number; month: Month; contents: ReportContents; now: number },
): Promise<void> {
  await tx
    .insertInto('client_reports')
    .values({ site_id: siteId, month, contents: JSON.stringify(contents), created_at: now })
    .onConflict((conflict) => conflict.columns(['site_id', 'month']).doNothing())
    .execute()
}

/** Returns the months of stored reports, newest first. */
export async function storedMonths(tx: Tx, siteId: number): Promise<Month[]> {
  const rows = await tx
    .selectFrom('client_reports')
    .select('month')
    .where('site_id', '=', siteId)
    .orderBy('month', 'desc')
    .execute()
  return rows.map(({ month }) => Number(month))
}

/** Returns live sites without a report of a month, in order of ID. Only those that existed in it. */
export async function sitesWithout(
  tx: Tx,
  { month, before, after, most }: { month: Month; before: number; after: number; most: number },
): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select id from sites where id > ${after} and deleted_at is null and state = 'live' and created_at < ${before}
      and not exists (select 1 from client_reports where site_id = sites.id and month = ${month})
    order by id limit ${most}`.execute(tx)
  return rows.map(({ id }) => Number(id))
}

/** @returns how many rows; call again until it is 0 */
export async function forgetReportsBefore(tx: Tx, before: Month, most: number): Promise<number> {
  const old = tx.selectFrom('client_reports').select(['site_id', 'month']).where('month', '<', before).limit(most)
  const { numDeletedRows } = await tx
    .deleteFrom('client_reports')
    .where(({ refTuple }) => sql<boolean>`${refTuple('site_id', 'month')} in (${old})`)
    .executeTakeFirst()
  return Number(numDeletedRows)
}

export async function forgetClientReports(tx: Tx, siteId: number): Promise<void> {
  for (const table of ['client_reports', 'client_report_days'] as const)
    await tx.deleteFrom(table).where('site_id', '=', siteId).execute()
}
