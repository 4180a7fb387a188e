import { sql } from 'kysely'
import { isPostgres, type Tx } from '../../platform/db/database.ts'
import type { MonitoringStateRow, UptimeDayRow } from '../tables.ts'

/** A site and the name that visitors use for it. */
export interface SiteToAsk {
  readonly siteId: number
  readonly hostName: string
  /** Whether it is a domain of its owner. Otherwise it is below the staging domain. */
  readonly isDomain: boolean
}

/** Returns the next sites that are not deleted, in order of id. */
export async function sitesToAsk(tx: Tx, after: number, most: number): Promise<SiteToAsk[]> {
  const rows = await tx
    .selectFrom('sites')
    .innerJoin('routes', 'routes.site_id', 'sites.id')
    .select(['sites.id', 'sites.primary_domain', 'routes.host_name'])
    .where('sites.id', '>', after)
    .where('sites.deleted_at', 'is', null)
    .where('routes.is_domain', '=', 0)
    .orderBy('sites.id')
    .limit(most)
    .execute()
  return rows.map(({ id, primary_domain: domain, host_name: staging }) => ({
    siteId: id,
    hostName: domain ?? staging,
    isDomain: domain !== null,
  }))
}

/** Returns what this edge has stored, for the next sites in order of id. */
export const statesOfEdge = (tx: Tx, edge: string, after: number, most: number): Promise<MonitoringStateRow[]> =>
  tx
    .selectFrom('monitoring_states')
    .selectAll()
    .where('edge', '=', edge)
    .where('site_id', '>', after)
    .orderBy('site_id')
    .limit(most)
    .execute()

/** Stores that an edge asks. */
export async function reportMonitor(tx: Tx, edge: string, now: number): Promise<void> {
  await withoutWaiting(tx)
  await tx
    .insertInto('monitoring_edges')
    .values({ edge, seen_at: now })
    .onConflict((conflict) => conflict.column('edge').doUpdateSet({ seen_at: now }))
    .execute()
}

/** Stores states that have changed. A control reads them. */
export async function storeStates(tx: Tx, rows: readonly Omit<MonitoringStateRow, 'is_new'>[]): Promise<void> {
  const columns = ['host_name', 'state', 'reason', 'detail', 'since', 'is_new'] as const
  await tx
    .insertInto('monitoring_states')
    .values(rows.toSorted((a, b) => a.site_id - b.site_id).map((row) => ({ ...row, is_new: 1 })))
    .onConflict((conflict) =>
      conflict
        .columns(['site_id', 'edge'])
        .doUpdateSet(({ ref }) => Object.fromEntries(columns.map((column) => [column, ref(`excluded.${column}`)]))),
    )
    .execute()
}

/** Adds counts to days. */
export async function addUptime(tx: Tx, rows: readonly UptimeDayRow[]): Promise<void> {
  await withoutWaiting(tx)
  const plus = (column: 'asked' | 'slow' | 'failed') =>
    sql<number>`${sql.ref(`uptime_days.${column}`)} + ${sql.ref(`excluded.${column}`)}`
  await tx
    .insertInto('uptime_days')
    .values(rows.toSorted((a, b) => a.site_id - b.site_id))
    .onConflict((conflict) =>
      conflict
        .columns(['site_id', 'day'])
        .doUpdateSet({ asked: plus('asked'), slow: plus('slow'), failed: plus('failed') }),
    )
    .execute()
}

/** The commit does not wait for the disk: a power failure loses a second of counts. */
async function withoutWaiting(tx: Tx): Promise<void> {
  if (isPostgres(tx)) await sql`set local synchronous_commit = off`.execute(tx)
}
