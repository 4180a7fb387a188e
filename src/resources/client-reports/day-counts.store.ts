import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Tx } from '../../platform/db/database.ts'
import { DAY_MS } from '../../platform/durations.ts'
import { timestamp } from '../../platform/http/schemas.ts'
import { shortLine } from '../../platform/short-line.ts'
import type { ReportedChange } from './contents.ts'
import type { ClientReportClockRow } from './tables.ts'

/*
 * Backups, test restores, and log entries are deleted before a month has ended. So each day is counted when it is over.
 */

export interface DayCounts {
  readonly files: number
  readonly databases: number
  readonly proven: number
  readonly not_proven: number
  readonly changes: readonly ReportedChange[]
}

/** What to count: of all sites, or of one. Milliseconds UTC, `to` is exclusive. */
export interface CountedSpan {
  readonly from: number
  readonly to: number
  readonly siteId?: number
}

/** The most updates of a site that are kept of a day, each with this many characters. */
const MOST_CHANGES = 50
const CHANGE_LENGTH = 200

/** For so many days everything that counts is still there. Hourly backups go after a week. */
export const COUNTABLE_DAYS = 6

export const clockOf = (tx: Tx): Promise<ClientReportClockRow | undefined> =>
  tx.selectFrom('client_report_clock').selectAll().executeTakeFirst()

const ofSite = ({ siteId }: CountedSpan, column: string): RawBuilder<SqlBool> =>
  siteId === undefined ? sql<SqlBool>`${sql.ref(column)} is not null` : sql<SqlBool>`${sql.ref(column)} = ${siteId}`

/** Returns the backups of sites that were completed in a span. Undo points do not count. */
export async function backupsDone(tx: Tx, span: CountedSpan) {
  const rows = await tx
    .selectFrom('backups')
    .select('site_id')
    .select([
      sql<number>`sum(case when kind = 'fs' then 1 else 0 end)`.as('files'),
      sql<number>`sum(case when kind = 'db' then 1 else 0 end)`.as('databases'),
    ])
    .where('completed_at', '>=', span.from)
    .where('completed_at', '<', span.to)
    .where('origin', '<>', 'undo')
    .where(ofSite(span, 'site_id'))
    .groupBy('site_id')
    .execute()
  return rows.map(({ site_id, files, databases }) => ({
    siteId: Number(site_id),
    counts: { files: Number(files), databases: Number(databases) },
  }))
}

/** Returns the test restores of sites that ended in a span. Those that could not run say nothing of a backup. */
export async function proofsDone(tx: Tx, span: CountedSpan) {
  const rows = await tx
    .selectFrom('operations')
    .leftJoin('operation_steps as step', (join) =>
      join.onRef('step.operation_id', '=', 'operations.id').on('step.name', '=', 'prove'),
    )
    .select('operations.site_id')
    .select([
      sql<number>`sum(case when operations.state = 'succeeded' and step.result like '{"files"%' then 1 else 0 end)`.as(
        'proven',
      ),
      sql<number>`sum(case when operations.state = 'failed' then 1 else 0 end)`.as('failed'),
    ])
    .where('operations.type', '=', 'backup.prove')
    .where('operations.finished_at', '>=', span.from)
    .where('operations.finished_at', '<', span.to)
    .where(ofSite(span, 'operations.site_id'))
    .groupBy('operations.site_id')
    .execute()
  return rows.map(({ site_id, proven, failed }) => ({
    siteId: Number(site_id),
    counts: { proven: Number(proven), not_proven: Number(failed) },
  }))
}

/** The log entries that tell of an update, and what became of it. */
const outcomes: Readonly<Record<string, ReportedChange['outcome']>> = {
  'plugin.updated': 'done',
  'plugin.update_failed': 'failed',
  'wordpress.version_updated': 'done',
  'wordpress.version_failed': 'failed',
}

/** Returns the updates that the logs of sites tell of. */
export async function activityChanges(
  tx: Tx,
  span: CountedSpan,
): Promise<{ siteId: number; change: ReportedChange }[]> {
  const rows = await tx
    .selectFrom('activity')
    .select(['site_id', 'action', 'message', 'created_at'])
    .where('created_at', '>=', span.from)
    .where('created_at', '<', span.to)
    .where('action', 'in', Object.keys(outcomes))
    .where(ofSite(span, 'site_id'))
    .orderBy('id')
    .execute()
  return rows.map(({ site_id, action, message, created_at }) => ({
    siteId: Number(site_id),
    change: {
      at: timestamp(Number(created_at)),
      text: shortLine(message, CHANGE_LENGTH),
      outcome: outcomes[action] ?? 'done',
    },
  }))
}

/** Counts a day that is over, of all sites. The transaction also moves the clock, so that each day is counted once. */
export async function countDay(tx: Tx, day: number): Promise<void> {
  const span = { from: day * DAY_MS, to: (day + 1) * DAY_MS }
  const bySite = new Map<number, Partial<DayCounts>>()
  const add = (siteId: number, more: Partial<DayCounts>) => bySite.set(siteId, { ...bySite.get(siteId), ...more })
  for (const { siteId, counts } of await backupsDone(tx, span)) add(siteId, counts)
  for (const { siteId, counts } of await proofsDone(tx, span)) add(siteId, counts)
  const changes = Map.groupBy(await activityChanges(tx, span), ({ siteId }) => siteId)
  for (const [siteId, some] of changes)
    add(siteId, { changes: some.slice(0, MOST_CHANGES).map(({ change }) => change) })
  const rows = [...bySite].map(([siteId, { changes: list = [], ...counts }]) => ({
    ...{ site_id: siteId, day, files: 0, databases: 0, proven: 0, not_proven: 0 },
    ...counts,
    changes: JSON.stringify(list),
  }))
  // SQLite accepts 32,766 values in a statement.
  for (let at = 0; at < rows.length; at += 1000)
    await tx
      .insertInto('client_report_days')
      .values(rows.slice(at, at + 1000))
      .onConflict((conflict) => conflict.columns(['site_id', 'day']).doNothing())
      .execute()
  await tx
    .insertInto('client_report_clock')
    .values({ id: 1, first_day: day, last_day: day })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ last_day: day }))
    .execute()
}

/** @returns how many rows; call again until it is 0 */
export async function forgetDays(tx: Tx, before: number, most: number): Promise<number> {
  const old = tx.selectFrom('client_report_days').select(['site_id', 'day']).where('day', '<', before).limit(most)
  const { numDeletedRows } = await tx
    .deleteFrom('client_report_days')
    .where(({ refTuple }) => sql<boolean>`${refTuple('site_id', 'day')} in (${old})`)
    .executeTakeFirst()
  return Number(numDeletedRows)
}
