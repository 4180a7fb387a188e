import { type SqlBool, sql } from 'kysely'
import type { Tx } from '../../platform/db/database.ts'
import { databaseNow } from '../../platform/operations/worker/lease.ts'
import type { Site } from '../sites/public.ts'
import { AGAIN_MS } from './failed-update.store.ts'

/** A release that some sites of a host run. */
export interface Installed {
  readonly hostId: number
  readonly coreVersion: string
}

/** A missing site is reported once a day. */
const LOST_MS = 2 * 86_400_000

/** Condition for sites with automatic security releases. */
const wanted = sql<SqlBool>`s.deleted_at is null and s.state in ('live', 'disabled') and s.core_channel = 'stable'
  and s.core_version is not null and s.host_id is not null
  and exists (select 1 from accounts a where a.id = s.account_id and a.automatic_updates = 1)`

/** Returns the releases that these sites run. */
export async function installedReleases(tx: Tx): Promise<Installed[]> {
  const { rows } = await sql<Installed>`
    select s.host_id as "hostId", s.core_version as "coreVersion" from sites s
    where ${wanted} group by s.host_id, s.core_version order by s.host_id, s.core_version`.execute(tx)
  return rows
}

export interface DueUpdate {
  readonly siteId: number
  readonly accountId: number
}

/**
 * Returns sites of a host with an older release of this branch. Leaves out sites with an unfinished operation or closed
 * by one, missing sites, and sites where this release has failed. A retry time too far ahead was written before the
 * clock was set back.
 */
export async function dueUpdates(
  tx: Tx,
  { hostId, coreVersion }: Installed,
  update: { readonly version: string; readonly phpVersions: readonly Site['phpVersion'][]; readonly now: number },
  most: number,
): Promise<DueUpdate[]> {
  const { version, phpVersions, now } = update
  if (phpVersions.length === 0 || most <= 0) return []
  const { rows } = await sql<DueUpdate>`
    select s.id as "siteId", s.account_id as "accountId" from sites s
    where ${wanted} and s.host_id = ${hostId} and s.core_version = ${coreVersion}
      and s.php_version in (${sql.join([...phpVersions])})
      and (s.lost_at is null or s.lost_at < ${now - LOST_MS})
      and not exists (select 1 from operations o where o.site_id = s.id and o.finished_at is null
        and (o.started_at is not null or o.run_at <= ${databaseNow(tx)}))
      and not exists (select 1 from operations c where c.id = s.closed_by and c.finished_at is null)
      and not exists (select 1 from failed_updates f where f.site_id = s.id and f.version = ${version}
        and (f.again_at is null or f.again_at > ${now} and f.again_at <= ${now + 2 * AGAIN_MS}))
    order by s.id limit ${most}`.execute(tx)
  return rows
}

/** Counts unfinished operations of a type on a host. */
export async function countOpenOnHost(tx: Tx, type: string, hostId: number): Promise<number> {
  const row = await tx
    .selectFrom('operations')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('type', '=', type)
    .where('host_id', '=', hostId)
    .where('state', 'in', ['queued', 'running'])
    .executeTakeFirstOrThrow()
  return Number(row.count)
}

/** Returns whether an update of a site on a host has failed since a time. */
export async function hasFailedSince(tx: Tx, hostId: number, span: { since: number; now: number }): Promise<boolean> {
  const row = await tx
    .selectFrom('failed_updates')
    .innerJoin('sites', 'sites.id', 'failed_updates.site_id')
    .select('site_id')
    .where('sites.host_id', '=', hostId)
    .where('failed_at', '>', span.since)
    .where('failed_at', '<=', span.now)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}
