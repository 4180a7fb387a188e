import { type SqlBool, sql } from 'kysely'
import type { Tx } from '../../platform/db/database.ts'
import type { Measurement } from './measured.ts'
import type { Device, Measured, Opportunity } from './report.ts'

/** The most reports of a site. Older ones are deleted. */
const MOST_REPORTS = 10

export interface StoredReport {
  readonly id: number
  readonly createdAt: number
  readonly desktop: Measured
  readonly mobile: Measured
  readonly hasThumbnail: Readonly<Record<Device, boolean>>
}

/**
 * Stores a report, and deletes the oldest beyond the limit.
 * @returns its id
 */
export async function insertReport(
  tx: Tx,
  siteId: number,
  halves: Readonly<Record<Device, Measurement>>,
  now: number,
): Promise<number> {
  const { desktop, mobile } = halves
  const { id } = await tx
    .insertInto('performance_reports')
    .values({
      site_id: siteId,
      desktop: JSON.stringify(stored(desktop)),
      mobile: JSON.stringify(stored(mobile)),
      desktop_thumbnail: desktop.thumbnail,
      mobile_thumbnail: mobile.thumbnail,
      created_at: now,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  const kept = tx
    .selectFrom('performance_reports')
    .select('id')
    .where('site_id', '=', siteId)
    .orderBy('id', 'desc')
    .limit(MOST_REPORTS)
  await tx.deleteFrom('performance_reports').where('site_id', '=', siteId).where('id', 'not in', kept).execute()
  return Number(id)
}

const stored = ({ measured, opportunities }: Measurement) => ({ ...measured, opportunities })

export interface PastReport {
  readonly id: number
  readonly createdAt: number
  readonly desktop: ReportHalf
  readonly mobile: ReportHalf
}

export interface ReportHalf {
  readonly measured: Measured
  /** Empty for reports from before improvements were stored. */
  readonly opportunities: readonly Opportunity[]
}

/** Returns all stored reports, newest first. */
export async function reportsOfSite(tx: Tx, siteId: number): Promise<PastReport[]> {
  const rows = await tx
    .selectFrom('performance_reports')
    .select(['id', 'desktop', 'mobile', 'created_at'])
    .where('site_id', '=', siteId)
    .orderBy('id', 'desc')
    .limit(MOST_REPORTS)
    .execute()
  return rows.map((row) => ({
    id: Number(row.id),
    createdAt: Number(row.created_at),
    desktop: halfOf(row.desktop),
    mobile: halfOf(row.mobile),
  }))
}

function halfOf(text: string): ReportHalf {
  const { opportunities = [], ...measured } = JSON.parse(text) as Measured & { opportunities?: Opportunity[] }
  return { measured, opportunities }
}

export async function latestReport(tx: Tx, siteId: number): Promise<StoredReport | undefined> {
  const row = await tx
    .selectFrom('performance_reports')
    .select(['id', 'desktop', 'mobile', 'created_at'])
    .select(sql<SqlBool>`desktop_thumbnail is not null`.as('has_desktop'))
    .select(sql<SqlBool>`mobile_thumbnail is not null`.as('has_mobile'))
    .where('site_id', '=', siteId)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return (
    row && {
      id: Number(row.id),
      createdAt: Number(row.created_at),
      desktop: halfOf(row.desktop).measured,
      mobile: halfOf(row.mobile).measured,
      hasThumbnail: { desktop: Boolean(row.has_desktop), mobile: Boolean(row.has_mobile) },
    }
  )
}

/** JPEG. */
export async function findThumbnail(
  tx: Tx,
  siteId: number,
  reportId: number,
  device: Device,
): Promise<Buffer | undefined> {
  const row = await tx
    .selectFrom('performance_reports')
    .select(`${device}_thumbnail as picture`)
    .where('site_id', '=', siteId)
    .where('id', '=', reportId)
    .executeTakeFirst()
  return row?.picture ? Buffer.from(row.picture, 'base64') : undefined
}

/**
 * Returns for each of these sites the newest report with a picture of the desktop, by site ID. Sites without one are left
 * out.
 */
export async function newestPictured(tx: Tx, siteIds: readonly number[]): Promise<ReadonlyMap<number, number>> {
  if (siteIds.length === 0) return new Map()
  const rows = await tx
    .selectFrom('performance_reports')
    .select((eb) => ['site_id', eb.fn.max('id').as('id')])
    .where('site_id', 'in', siteIds)
    .where('desktop_thumbnail', 'is not', null)
    .groupBy('site_id')
    .execute()
  return new Map(rows.map((row) => [Number(row.site_id), Number(row.id)]))
}

export interface SiteDueForReport {
  readonly siteId: number
  readonly accountId: number
  readonly hostId: number
}

/**
 * Picks the longest waiting live site of each host that has Chromium and no running report. Sites in maintenance or
 * defensive mode are skipped, because their visitors get another page. A time in the future was written before the
 * clock was set back.
 */
export async function dueSites(
  tx: Tx,
  type: string,
  span: { before: number; now: number },
): Promise<SiteDueForReport[]> {
  const { rows } = await sql<SiteDueForReport & { facts: string }>`
    select h.id as "hostId", h.facts, s.id as "siteId", s.account_id as "accountId" from hosts h join sites s on s.id = (
      select c.id from sites c left join performance_attempts a on a.site_id = c.id
      where c.host_id = h.id and c.state = 'live' and c.deleted_at is null
        and c.maintenance = 0 and coalesce(c.defensive_until, 0) <= ${span.now}
        and (a.attempted_at is null or a.attempted_at < ${span.before} or a.attempted_at > ${span.now})
        and not exists (select 1 from operations o where o.site_id = c.id and o.finished_at is null)
      order by coalesce(a.attempted_at, 0), c.id limit 1)
    where not exists (select 1 from operations o where o.host_id = h.id and o.type = ${type} and o.finished_at is null)
    order by h.id`.execute(tx)
  return rows
    .filter(({ facts }) => (JSON.parse(facts) as { canMeasurePages?: boolean }).canMeasurePages === true)
    .map(({ hostId, siteId, accountId }) => ({
      hostId: Number(hostId),
      siteId: Number(siteId),
      accountId: Number(accountId),
    }))
}

export async function noteAttempt(tx: Tx, siteId: number, now: number): Promise<void> {
  await tx
    .insertInto('performance_attempts')
    .values({ site_id: siteId, attempted_at: now })
    .onConflict((conflict) => conflict.column('site_id').doUpdateSet({ attempted_at: now }))
    .execute()
}

export async function forgetReports(tx: Tx, siteId: number): Promise<void> {
  for (const table of ['performance_reports', 'performance_attempts'] as const)
    await tx.deleteFrom(table).where('site_id', '=', siteId).execute()
}

/** Returns whether a report of the site is queued or running. */
export async function isReportInProgress(tx: Tx, type: string, siteId: number): Promise<boolean> {
  const row = await tx
    .selectFrom('operations')
    .select('id')
    .where('site_id', '=', siteId)
    .where('type', '=', type)
    .where('finished_at', 'is', null)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}
