import type { Selectable } from 'kysely'
import type { Tx } from '../../platform/db/database.ts'
import { endAlert } from '../alerts/public.ts'
import type { DomainCheckRow } from './tables.ts'

/** Result of the last check of a domain from outside. */
export interface DomainCheck {
  readonly isDnsConfirmed: boolean
  readonly isProvisioned: boolean
  readonly isHealthy: boolean
  /** Why not all of them are true, or null if they are. */
  readonly reason: string | null
}

const checkOf = (row: Pick<DomainCheckRow, 'dns_confirmed' | 'provisioned' | 'healthy' | 'reason'>): DomainCheck => ({
  isDnsConfirmed: row.dns_confirmed === 1,
  isProvisioned: row.provisioned === 1,
  isHealthy: row.healthy === 1,
  reason: row.reason,
})

const dueOf = (row: Selectable<DomainCheckRow>): DueDomain => ({
  siteId: row.site_id,
  hostName: row.host_name,
  before: row.checked_at === null ? undefined : checkOf(row),
  confirmedAt: row.confirmed_at,
})

/** Returns the checks of a site's domains, by host name. */
export async function checksOfSite(tx: Tx, siteId: number): Promise<Map<string, DomainCheck>> {
  const rows = await tx.selectFrom('domain_checks').selectAll().where('site_id', '=', siteId).execute()
  return new Map(rows.map((row) => [row.host_name, checkOf(row)]))
}

/** Domain that is due for a check, with its earlier state, or `undefined` if it was never checked. */
export interface DueDomain {
  readonly siteId: number
  readonly hostName: string
  readonly before: DomainCheck | undefined
  /** When its DNS was last confirmed. Null for never. */
  readonly confirmedAt: number | null
}

/**
 * Makes names of sites that were never checked due at once.
 * @returns how many there were
 */
export async function expectChecks(tx: Tx, now: number, limit: number): Promise<number> {
  const names = await tx
    .selectFrom('routes')
    .leftJoin('domain_checks', (join) =>
      join
        .onRef('domain_checks.site_id', '=', 'routes.site_id')
        .onRef('domain_checks.host_name', '=', 'routes.host_name'),
    )
    .select(['routes.site_id', 'routes.host_name'])
    .where('routes.is_domain', '=', 1)
    .where('domain_checks.host_name', 'is', null)
    .limit(limit)
    .execute()
  for (const { site_id: siteId, host_name: hostName } of names) await expectCheck(tx, siteId, hostName, now)
  return names.length
}

/** Schedules a check of a domain. */
export async function expectCheck(tx: Tx, siteId: number, hostName: string, dueAt: number): Promise<void> {
  const unseen = { dns_confirmed: 0, provisioned: 0, healthy: 0, reason: null, checked_at: null } as const
  await tx
    .insertInto('domain_checks')
    .values({ site_id: siteId, host_name: hostName, ...unseen, due_at: dueAt })
    .onConflict((conflict) => conflict.columns(['site_id', 'host_name']).doUpdateSet({ due_at: dueAt }))
    .execute()
}

/** Takes due checks, and lets other callers take the next ones. Forgets names that are no longer domains. */
export async function takeDueChecks(tx: Tx, now: number, next: (at: number) => number, limit: number) {
  const rows = await tx
    .selectFrom('domain_checks')
    .leftJoin('routes', (join) =>
      join
        .onRef('routes.host_name', '=', 'domain_checks.host_name')
        .onRef('routes.site_id', '=', 'domain_checks.site_id')
        .on('routes.is_domain', '=', 1),
    )
    .selectAll('domain_checks')
    .select('routes.site_id as route_site_id')
    .where('due_at', '<=', now)
    .orderBy('due_at')
    .limit(limit)
    .execute()
  const due: DueDomain[] = []
  for (const row of rows) {
    const { site_id: siteId, host_name: hostName } = row
    if (row.route_site_id === null) await forgetCheck(tx, { siteId, hostName, now })
    else {
      await expectCheck(tx, siteId, hostName, next(now))
      due.push(dueOf(row))
    }
  }
  return { found: rows.length, due }
}

export async function findCheck(tx: Tx, siteId: number, hostName: string): Promise<DueDomain | undefined> {
  const row = await tx
    .selectFrom('domain_checks')
    .selectAll()
    .where('site_id', '=', siteId)
    .where('host_name', '=', hostName)
    .executeTakeFirst()
  return row && dueOf(row)
}

export async function storeCheck(
  tx: Tx,
  { siteId, hostName }: DueDomain,
  seen: DomainCheck,
  now: number,
): Promise<void> {
  await tx
    .updateTable('domain_checks')
    .set({
      dns_confirmed: seen.isDnsConfirmed ? 1 : 0,
      provisioned: seen.isProvisioned ? 1 : 0,
      healthy: seen.isHealthy ? 1 : 0,
      reason: seen.reason,
      checked_at: now,
      ...(seen.isDnsConfirmed && { confirmed_at: now }),
    })
    .where('site_id', '=', siteId)
    .where('host_name', '=', hostName)
    .execute()
}

/** Forgets a name that is no longer a domain of the site. */
export async function forgetCheck(
  tx: Tx,
  { siteId, hostName, now }: { readonly siteId: number; readonly hostName: string; readonly now: number },
): Promise<void> {
  await endAlert(tx, { kind: 'domain_elsewhere', siteId, subject: hostName }, now)
  await tx.deleteFrom('domain_checks').where('site_id', '=', siteId).where('host_name', '=', hostName).execute()
}

export async function forgetChecks(tx: Tx, siteId: number): Promise<void> {
  await tx.deleteFrom('domain_checks').where('site_id', '=', siteId).execute()
}
