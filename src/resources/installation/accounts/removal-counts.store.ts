import { sql } from 'kysely'
import type { Tx } from '../../../platform/db/database.ts'

/** What hangs on an account, in numbers. */
export interface RemovalCounts {
  readonly backups: number
  readonly backupBytes: number
  readonly certificates: number
  readonly credentials: number
  readonly passkeys: number
  readonly sessions: number
  readonly webhooks: number
  readonly sftpUsers: number
  readonly muPlugins: number
  readonly operations: number
  readonly activity: number
}

/** Sites that are not purged, as in `sitesLeftOf`. */
const sites = (accountId: number) => sql`select id from sites where account_id = ${accountId} and (deleted_at is null
  or exists (select 1 from site_access where site_id = sites.id)
  or exists (select 1 from site_homes where site_id = sites.id))`

export async function removalCounts(tx: Tx, accountId: number, now: number): Promise<RemovalCounts> {
  const own = sql`(${sites(accountId)})`
  const { rows } = await sql<Record<keyof RemovalCounts, number | string>>`select
    (select count(*) from backups where site_id in ${own} and state = 'completed') as "backups",
    (select coalesce(sum(bytes), 0) from backups where site_id in ${own} and state = 'completed') as "backupBytes",
    (select count(*) from certificates where site_id in ${own}) as "certificates",
    (select count(*) from applications where account_id = ${accountId} and revoked_at is null
      and client_id <> 'panel-' || account_id) as "credentials",
    (select count(*) from passkeys where account_id = ${accountId}) as "passkeys",
    (select count(*) from sessions join tokens on tokens.hash = sessions.token_hash
      where sessions.account_id = ${accountId} and tokens.revoked_at is null and tokens.expires_at > ${now}) as "sessions",
    (select count(*) from webhooks where account_id = ${accountId}) as "webhooks",
    (select count(*) from sftp_users where account_id = ${accountId} or site_id in ${own}) as "sftpUsers",
    (select count(*) from mu_plugins where account_id = ${accountId} and deleted_at is null) as "muPlugins",
    (select count(*) from operations where account_id = ${accountId} and finished_at is null
      and type not in ('site.remove', 'site.purge')) as "operations",
    (select count(*) from activity where account_id = ${accountId}) as "activity"`.execute(tx)
  const [row] = rows
  return Object.fromEntries(Object.entries(row ?? {}).map(([name, count]) => [name, Number(count)])) as never
}

export interface LeavingSite {
  readonly id: number
  readonly name: string
  readonly bytes: number
  readonly staging: boolean
  readonly in_trash: boolean
}

/** Returns the sites of an account that are not purged, by name. */
export async function leavingSites(tx: Tx, accountId: number): Promise<LeavingSite[]> {
  const { rows } = await sql<Record<keyof LeavingSite, string | number>>`
    select s.id, s.name, s.staging, case when s.deleted_at is null then 0 else 1 end as in_trash,
      coalesce(u.database_bytes + u.file_bytes, 0) as bytes
    from sites s left join site_statistics u on u.site_id = s.id
    where s.id in (${sites(accountId)}) order by s.name, s.id`.execute(tx)
  return rows.map(({ id, name, bytes, staging, in_trash }) => ({
    ...{ id: Number(id), name: String(name), bytes: Number(bytes) },
    ...{ staging: Number(staging) === 1, in_trash: Number(in_trash) === 1 },
  }))
}

/** Returns the zones of an account by name, and whether they are signed. */
export async function leavingZones(tx: Tx, accountId: number): Promise<{ name: string; signed: boolean }[]> {
  const rows = await tx
    .selectFrom('zones')
    .select(['name', 'dnssec'])
    .where('account_id', '=', accountId)
    .where('deleted_at', 'is', null)
    .orderBy('name')
    .execute()
  return rows.map(({ name, dnssec }) => ({ name, signed: dnssec !== 'off' }))
}

/** Returns the domains of an account's sites, by name. */
export async function leavingDomains(tx: Tx, accountId: number): Promise<string[]> {
  const rows = await tx
    .selectFrom('routes')
    .innerJoin('sites', 'sites.id', 'routes.site_id')
    .select('host_name')
    .where('sites.account_id', '=', accountId)
    .where('is_domain', '=', 1)
    .orderBy('host_name')
    .execute()
  return rows.map(({ host_name }) => host_name)
}

/** Returns the sites of others that an account has access to, by name. */
export async function accessToOthers(tx: Tx, accountId: number): Promise<{ site: string; owner: string }[]> {
  return tx
    .selectFrom('collaborators')
    .innerJoin('sites', 'sites.id', 'collaborators.site_id')
    .innerJoin('accounts', 'accounts.id', 'sites.account_id')
    .select(['sites.name as site', 'accounts.email as owner'])
    .where('collaborators.account_id', '=', accountId)
    .where('sites.deleted_at', 'is', null)
    .orderBy('sites.name')
    .execute()
}

/** Returns the first zone of an account that has records of other accounts' sites. */
export async function zoneWithOthers(tx: Tx, accountId: number): Promise<string | undefined> {
  const row = await tx
    .selectFrom('zones')
    .innerJoin('dns_records', 'dns_records.zone_id', 'zones.id')
    .innerJoin('sites', 'sites.id', 'dns_records.site_id')
    .select('zones.name')
    .where('zones.account_id', '=', accountId)
    .where('zones.deleted_at', 'is', null)
    .where('sites.account_id', '<>', accountId)
    .where('sites.deleted_at', 'is', null)
    .orderBy('zones.name')
    .limit(1)
    .executeTakeFirst()
  return row?.name
}
