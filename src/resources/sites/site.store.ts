import type { Selectable } from 'kysely'
import type { PhpVersion } from '../../hosting/php/runtime.ts'
import { lockForUpdate, type Tx } from '../../platform/db/database.ts'
import { precompiled } from '../../platform/db/precompiled.ts'
import { columnsOfNewSite, flagColumns, flagsOfRow, type SiteFlags } from '../../site-flags.ts'
import { noteSite } from '../search/public.ts'
import { touchRoutes } from './addresses/route.store.ts'
import type { EnvironmentType, Install, ListedSite, Site, SiteState } from './site.ts'
import { grantAccess, hideSite, notePhpVersion } from './site-access.store.ts'
import type { SiteRow } from './tables.ts'

/** Converts a row to the form that the rest of Stead uses. */
export function siteOfRow(row: Selectable<SiteRow>): Site {
  return {
    id: row.id,
    accountId: row.account_id,
    name: row.name,
    displayName: row.display_name,
    state: row.state,
    isStaging: row.staging === 1,
    datacenterCode: row.datacenter_code,
    hostId: row.host_id,
    phpVersion: row.php_version as PhpVersion,
    coreVersion: row.core_version,
    coreChannel: row.core_channel,
    install: row.install as Install,
    environmentType: row.environment_type as EnvironmentType,
    ...flagsOfRow(row),
    defensiveUntil: row.defensive_until,
    clonedFromId: row.cloned_from_id,
    primaryDomain: row.primary_domain,
    deployError: row.deploy_error,
    adminUsername: row.admin_username,
    adminEmail: row.admin_email,
    createdAt: row.created_at,
  }
}

/** Returns a site that is not deleted, for work inside Stead. */
export async function findSite(tx: Tx, siteId: number): Promise<Site | undefined> {
  const row = await tx
    .selectFrom('sites')
    .selectAll()
    .where('id', '=', siteId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  return row && siteOfRow(row)
}

/**
 * Returns the same as {@link findSite}, for a transaction that changes the site based on what it finds. Such
 * transactions run one at a time, including requests (`holdVisibleSite`). Otherwise a job that reads and then writes
 * could undo a deletion in between.
 */
export async function holdSite(tx: Tx, siteId: number): Promise<Site | undefined> {
  await lockForUpdate(tx, 'sites', siteId)
  return findSite(tx, siteId)
}

/** Assigns a site to another host. Call `touchRoutes` afterwards to tell edges. */
export async function setHost(tx: Tx, siteId: number, hostId: number): Promise<void> {
  await tx.updateTable('sites').set({ host_id: hostId }).where('id', '=', siteId).execute()
}

export async function isNameTaken(tx: Tx, name: string): Promise<boolean> {
  const row = await tx
    .selectFrom('sites')
    .select('id')
    .where('name', '=', name)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  return row !== undefined
}

export interface SiteDraft {
  readonly accountId: number
  readonly name: string
  readonly isStaging: boolean
  readonly datacenterCode: string
  readonly hostId: number
  readonly phpVersion: PhpVersion
  readonly install: Install
  /** Those that differ from the usual ones of a new site. */
  readonly flags?: Partial<SiteFlags>
  readonly adminUsername: string
  readonly adminEmail: string
  /** Only for a clone: settings of its source. */
  readonly copied?: CopiedSettings
}

/** Settings that a clone copies from its source, in addition to the content. */
export interface CopiedSettings extends Pick<Site, 'environmentType' | 'coreChannel'> {
  readonly clonedFromId: number
}

/** @throws a unique violation (see `isUniqueViolation`) when the name is taken */
export async function insertSite(tx: Tx, draft: SiteDraft, now: number): Promise<ListedSite> {
  const { copied, isStaging, flags = {}, ...rest } = draft
  const [row] = await insertSiteRow(tx, {
    ...rest,
    state: copied ? 'cloning' : 'deploying',
    coreChannel: copied?.coreChannel ?? 'stable',
    ...columnsOfNewSite(draft, flags),
    clonedFromId: copied?.clonedFromId ?? null,
    staging: isStaging ? 1 : 0,
    environmentType: copied?.environmentType ?? usualEnvironment(isStaging),
    now,
  })
  await grantAccess(tx, draft.accountId, row as Selectable<SiteRow>)
  return {
    ...siteOfRow(row as Selectable<SiteRow>),
    domainsCount: 0,
    collaboratorsCount: 0,
    isFavorite: false,
    tags: [],
  }
}

/** Returns the default environment type. */
export const usualEnvironment = (isStaging: boolean): EnvironmentType => (isStaging ? 'staging' : 'production')

type NewFlags = ReturnType<typeof columnsOfNewSite>

interface NewSiteRow extends Omit<SiteDraft, 'isStaging' | 'flags' | 'copied'>, NewFlags {
  readonly state: SiteState
  readonly coreChannel: 'stable' | 'beta'
  readonly clonedFromId: number | null
  readonly staging: 0 | 1
  readonly environmentType: EnvironmentType
  readonly now: number
}

const insertSiteRow = precompiled((tx, draft: NewSiteRow) =>
  tx
    .insertInto('sites')
    .values({
      account_id: draft.accountId,
      name: draft.name,
      display_name: draft.name,
      state: draft.state,
      staging: draft.staging,
      datacenter_code: draft.datacenterCode,
      host_id: draft.hostId,
      php_version: draft.phpVersion,
      core_version: null,
      core_channel: draft.coreChannel,
      install: draft.install,
      environment_type: draft.environmentType,
      ...(Object.fromEntries(flagColumns.map((column) => [column, draft[column]])) as unknown as NewFlags),
      defensive_until: null,
      cache_epoch: 1,
      cloned_from_id: draft.clonedFromId,
      admin_username: draft.adminUsername,
      admin_email: draft.adminEmail,
      written_address: null,
      created_at: draft.now,
      deleted_at: null,
    })
    .returningAll(),
)

/** Columns of a site that operations change. */
export interface SiteChange {
  readonly displayName?: string | undefined
  readonly phpVersion?: PhpVersion | undefined
  readonly environmentType?: EnvironmentType | undefined
  readonly state?: SiteState
  readonly coreVersion?: string
  readonly coreChannel?: Site['coreChannel']
  readonly writtenAddress?: string
  readonly deployError?: string | null
  readonly isStaging?: boolean
}

/** Changes a site and tells edges and hosts. */
export async function changeSite(tx: Tx, siteId: number, change: SiteChange, now: number): Promise<void> {
  const columns = {
    display_name: change.displayName,
    php_version: change.phpVersion,
    environment_type: change.environmentType,
    state: change.state,
    core_version: change.coreVersion,
    core_channel: change.coreChannel,
    written_address: change.writtenAddress,
    deploy_error: change.deployError,
    staging: change.isStaging === undefined ? undefined : Number(change.isStaging),
  }
  const given = Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined))
  if (Object.keys(given).length > 0) await tx.updateTable('sites').set(given).where('id', '=', siteId).execute()
  if (change.displayName !== undefined) await noteSite(tx, siteId)
  if (change.phpVersion !== undefined) await notePhpVersion(tx, siteId, change.phpVersion)
  await touchRoutes(tx, siteId, now)
}

/** Removes a site from every list and from the edge. An operation removes its files. */
export async function markDeleted(tx: Tx, siteId: number, now: number): Promise<void> {
  await tx.updateTable('sites').set({ deleted_at: now }).where('id', '=', siteId).execute()
  await hideSite(tx, siteId, true)
  await countOnHost(tx, siteId, -1)
  // The rows stay until the files are gone. Their change tells the edge that the host name no longer has a site.
  await touchRoutes(tx, siteId, now)
}

/** Corrects the number of sites in the host's last report. */
async function countOnHost(tx: Tx, siteId: number, change: 1 | -1): Promise<void> {
  await tx
    .updateTable('hosts')
    .set(({ eb }) => ({ counted_sites: eb('counted_sites', '+', change) }))
    .where('id', '=', tx.selectFrom('sites').select('host_id').where('id', '=', siteId))
    .where('counted_to', '>=', siteId)
    .execute()
}

/** Returns the address in the site's own database, or `null` while it has none. */
export async function writtenAddressOf(tx: Tx, siteId: number): Promise<string | null> {
  const row = await tx.selectFrom('sites').select('written_address').where('id', '=', siteId).executeTakeFirst()
  return row?.written_address ?? null
}

/** Returns the site with this name that is not deleted. */
export async function findSiteNamed(tx: Tx, name: string): Promise<Site | undefined> {
  const row = await tx
    .selectFrom('sites')
    .selectAll()
    .where('name', '=', name)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  return row && siteOfRow(row)
}

/** Returns the site with this name that was deleted last and whose files still exist. */
export async function findDeletedSite(tx: Tx, name: string): Promise<Site | undefined> {
  const row = await tx
    .selectFrom('sites')
    .innerJoin('site_homes', 'site_homes.site_id', 'sites.id')
    .selectAll('sites')
    .where('sites.name', '=', name)
    .where('sites.deleted_at', 'is not', null)
    .where('site_homes.state', '=', 'taken')
    .orderBy('sites.deleted_at', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row && siteOfRow(row)
}

/** Locks a site and returns it if it is in the trash of its host. */
export async function holdDeletedSite(tx: Tx, siteId: number): Promise<Site | undefined> {
  await lockForUpdate(tx, 'sites', siteId)
  const row = await tx
    .selectFrom('sites')
    .innerJoin('site_homes', 'site_homes.site_id', 'sites.id')
    .selectAll('sites')
    .where('sites.id', '=', siteId)
    .where('sites.deleted_at', 'is not', null)
    .where('site_homes.state', '=', 'taken')
    .executeTakeFirst()
  return row && siteOfRow(row)
}

/** Returns the operations that will remove, or are removing, a deleted site's files. */
export async function openPurges(tx: Tx, siteId: number): Promise<number[]> {
  const rows = await tx
    .selectFrom('operations')
    .select('id')
    .where('site_id', '=', siteId)
    .where('type', 'in', ['site.remove', 'site.purge'])
    .where('finished_at', 'is', null)
    .execute()
  return rows.map(({ id }) => id)
}

/** Returns a deleted site to the lists and to the edge. */
export async function unmarkDeleted(tx: Tx, siteId: number, now: number): Promise<void> {
  await tx.updateTable('sites').set({ deleted_at: null }).where('id', '=', siteId).execute()
  await hideSite(tx, siteId, false)
  await countOnHost(tx, siteId, 1)
  await touchRoutes(tx, siteId, now)
}
