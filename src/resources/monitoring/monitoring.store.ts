import { type SqlBool, sql } from 'kysely'
import type { MonitoringStateRow } from '../../edge/tables.ts'
import type { Tx } from '../../platform/db/database.ts'
import type { SiteIncidentRow, SiteMonitoringRow } from './tables.ts'

/** An edge that has not reported for this long does not ask. It reports every minute. */
export const SILENT_MS = 180_000

/** Returns the edges that ask sites at this time. A clock that was set back may have left a time in the future. */
export async function askingEdges(tx: Tx, now: number): Promise<string[]> {
  const rows = await tx
    .selectFrom('monitoring_edges')
    .select('edge')
    .where('seen_at', '>', now - SILENT_MS)
    .where('seen_at', '<', now + SILENT_MS)
    .orderBy('edge')
    .execute()
  return rows.map(({ edge }) => edge)
}

/** Returns sites about which an edge has said something new, in order of id. */
export async function sitesWithNews(tx: Tx, most: number): Promise<number[]> {
  const rows = await tx
    .selectFrom('monitoring_states')
    .select('site_id')
    .distinct()
    .where(sql<SqlBool>`is_new = 1`)
    .orderBy('site_id')
    .limit(most)
    .execute()
  return rows.map(({ site_id }) => site_id)
}

/** Returns the next sites that are down or slow, in order of id. */
export async function sitesInTrouble(tx: Tx, after: number, most: number): Promise<number[]> {
  const rows = await tx
    .selectFrom('site_monitoring')
    .select('site_id')
    .where(sql<SqlBool>`state in ('down', 'slow')`)
    .where('site_id', '>', after)
    .orderBy('site_id')
    .limit(most)
    .execute()
  return rows.map(({ site_id }) => site_id)
}

/** Returns what edges say about a site, and marks it as read. */
export async function takeStates(tx: Tx, siteId: number): Promise<MonitoringStateRow[]> {
  await tx
    .updateTable('monitoring_states')
    .set({ is_new: 0 })
    .where('site_id', '=', siteId)
    .where(sql<SqlBool>`is_new = 1`)
    .execute()
  return tx.selectFrom('monitoring_states').selectAll().where('site_id', '=', siteId).orderBy('edge').execute()
}

export const findMonitoring = (tx: Tx, siteId: number): Promise<SiteMonitoringRow | undefined> =>
  tx.selectFrom('site_monitoring').selectAll().where('site_id', '=', siteId).executeTakeFirst()

export async function storeMonitoring(tx: Tx, row: SiteMonitoringRow): Promise<void> {
  const { site_id: _, ...rest } = row
  await tx
    .insertInto('site_monitoring')
    .values(row)
    .onConflict((conflict) => conflict.column('site_id').doUpdateSet(rest))
    .execute()
}

export async function openIncident(tx: Tx, incident: Omit<SiteIncidentRow, 'id' | 'ended_at'>): Promise<number> {
  const { id } = await tx
    .insertInto('site_incidents')
    .values({ ...incident, ended_at: null })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

/** Ends the open incident of a site. @returns it, if the site has one */
export const endIncident = (tx: Tx, siteId: number, now: number) =>
  tx
    .updateTable('site_incidents')
    .set({ ended_at: now })
    .where('site_id', '=', siteId)
    .where(sql<SqlBool>`ended_at is null`)
    .returning(['id', 'began_at', 'reason'])
    .executeTakeFirst()

/** Returns the sums of days, by site and day. */
export async function uptimeOf(tx: Tx, siteIds: readonly number[], from: number, to: number) {
  if (siteIds.length === 0) return []
  return tx
    .selectFrom('uptime_days')
    .selectAll()
    .where('site_id', 'in', siteIds)
    .where('day', '>=', from)
    .where('day', '<=', to)
    .execute()
}

/** Returns how many edges ask, and how many of them find the site down. */
export async function opinionsOn(tx: Tx, siteId: number, edges: readonly string[]) {
  const rows = await tx
    .selectFrom('monitoring_states')
    .select(['edge', 'state'])
    .where('site_id', '=', siteId)
    .execute()
  const counting = rows.filter(({ edge }) => edges.includes(edge))
  return { asking: counting.length, down: counting.filter(({ state }) => state === 'down').length }
}

/** Returns a page of a site's incidents, newest first, or after one in order of id. */
export function incidentsOfSite(
  tx: Tx,
  siteId: number,
  { perPage, offset, after }: { perPage: number; offset: number; after?: number },
): Promise<(SiteIncidentRow & { id: number })[]> {
  const all = tx.selectFrom('site_incidents').selectAll().where('site_id', '=', siteId).limit(perPage)
  const page =
    after === undefined ? all.orderBy('id', 'desc').offset(offset) : all.where('id', '>', after).orderBy('id')
  return page.execute() as Promise<(SiteIncidentRow & { id: number })[]>
}

export async function countIncidents(tx: Tx, siteId: number): Promise<number> {
  const { count } = await tx
    .selectFrom('site_incidents')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('site_id', '=', siteId)
    .executeTakeFirstOrThrow()
  return count
}

/** Which sites of an account a list has. */
export interface MonitoringFilter {
  readonly accountId: number
  readonly state?: SiteMonitoringRow['state'] | undefined
  /** Whether an edge asks at this time. Without one, the state of every site is unknown. */
  readonly isAsked: boolean
}

/** Returns a page of the sites that an account sees, by name, or after a site in order of id. */
export function monitoredPage(
  tx: Tx,
  filter: MonitoringFilter,
  { perPage, offset, after }: { perPage: number; offset: number; after?: number },
) {
  const all = seenSites(tx, filter).select([
    ...(['seen.site_id', 'seen.site_name', 'found.state', 'found.reason', 'found.detail', 'found.since'] as const),
  ])
  const some =
    after === undefined
      ? all.orderBy('seen.site_name').offset(offset)
      : all.where('seen.site_id', '>', after).orderBy('seen.site_id')
  return tx
    .selectFrom(some.limit(perPage).as('page'))
    .innerJoin('sites', 'sites.id', 'page.site_id')
    .select(['sites.id', 'sites.name', 'sites.display_name', 'sites.primary_domain', 'sites.staging'])
    .select(['page.state', 'page.reason', 'page.detail', 'page.since'])
    .orderBy(after === undefined ? 'page.site_name' : 'page.site_id')
    .execute()
}

export async function countMonitored(tx: Tx, filter: MonitoringFilter): Promise<number> {
  const { count } = await seenSites(tx, filter)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}

function seenSites(tx: Tx, { accountId, state, isAsked }: MonitoringFilter) {
  const query = tx
    .selectFrom('site_access as seen')
    .leftJoin('site_monitoring as found', 'found.site_id', 'seen.site_id')
    .where('seen.account_id', '=', accountId)
    // With a parameter here, SQLite would plan again at each run, to see whether the partial index fits it.
    .where(sql<SqlBool>`seen.is_deleted = 0`)
  if (state === undefined) return query
  if (!isAsked) return query.where(sql<SqlBool>`${state === 'unknown'}`)
  if (state === 'unknown')
    return query.where(({ or, eb }) => or([eb('found.state', '=', state), eb('found.state', 'is', null)]))
  return query.where('found.state', '=', state)
}

/** Deletes what edges say about a site. */
export async function forgetStates(tx: Tx, siteId: number): Promise<void> {
  await tx.deleteFrom('monitoring_states').where('site_id', '=', siteId).execute()
}

export async function forgetMonitoring(tx: Tx, siteId: number): Promise<void> {
  for (const table of ['monitoring_states', 'uptime_days', 'site_monitoring', 'site_incidents'] as const)
    await tx.deleteFrom(table).where('site_id', '=', siteId).execute()
}
