import { type Selectable, sql } from 'kysely'
import { announce, type Tx } from '../../platform/db/database.ts'
import { precompiled, precompiledChange } from '../../platform/db/precompiled.ts'
import type { SiteRow } from '../../platform/db/schema.ts'
import type { Role } from '../access.ts'
import type { PhpVersion } from '../account/account.ts'
import type { EnvironmentType, Install, ListedSite, Site, SiteState, Tag } from './site.ts'

/** A site that the caller may see, with what it may do there. */
export interface VisibleSite extends ListedSite {
  /** The caller's account owns it: every right. */
  readonly isOwned: boolean
  /** Of a collaborator; empty for the owner. */
  readonly roles: readonly Role[]
  /** Page views as statistics keep them; `null` for a site that is younger than the last refresh. */
  readonly pageViews: string | null
}

type CountedRow = Selectable<SiteRow> & { domains_count: number; collaborators_count: number }

function site(row: Selectable<SiteRow>): Site {
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
    hasMultisite: row.multisite === 1,
    hasLight404: row.light_404 === 1,
    hasEdgeCache: row.edge_cache === 1,
    hasCdn: row.cdn === 1,
    defensiveUntil: row.defensive_until,
    isInMaintenance: row.maintenance === 1,
    clonedFromId: row.cloned_from_id,
    adminUsername: row.admin_username,
    adminEmail: row.admin_email,
    createdAt: row.created_at,
  }
}

const listed = (row: CountedRow): Omit<ListedSite, 'isFavorite' | 'tags'> => ({
  ...site(row),
  // the first route is the site's own staging address
  domainsCount: Math.max(0, row.domains_count - 1),
  collaboratorsCount: row.collaborators_count,
})

/** Sites that are not deleted, with their counts. */
function countedSites(tx: Tx) {
  return tx
    .selectFrom('sites')
    .selectAll('sites')
    .select((query) => [
      query
        .selectFrom('routes')
        .whereRef('routes.site_id', '=', 'sites.id')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .as('domains_count'),
      query
        .selectFrom('collaborators')
        .whereRef('collaborators.site_id', '=', 'sites.id')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .as('collaborators_count'),
    ])
    .where('sites.deleted_at', 'is', null)
    .$narrowType<{ domains_count: number; collaborators_count: number }>()
}

/** @returns `undefined` for a site that does not exist, was deleted, or is no business of this account */
export async function visibleSite(tx: Tx, accountId: number, siteId: number): Promise<VisibleSite | undefined> {
  const [row] = await visibleSiteRow(tx, { accountId, siteId })
  if (!row) return undefined
  const tags = row.tags_count ? ((await tagsOfSites(tx, accountId, [siteId])).get(siteId) ?? []) : []
  return {
    ...listed(row),
    isFavorite: row.rank === 0,
    tags,
    isOwned: row.account_id === accountId,
    roles: row.collaborator_roles === null ? [] : (JSON.parse(row.collaborator_roles) as Role[]),
    pageViews: row.page_views,
  }
}

/** Each request for a site begins with it. */
const visibleSiteRow = precompiled((tx, { accountId, siteId }: { accountId: number; siteId: number }) =>
  accessibleSites(tx, accountId)
    .select(({ selectFrom }) => [
      selectFrom('collaborators')
        .select('collaborators.roles')
        .whereRef('collaborators.site_id', '=', 'sites.id')
        .where('collaborators.account_id', '=', accountId)
        .as('collaborator_roles'),
      selectFrom('site_tags')
        .innerJoin('tags', 'tags.id', 'site_tags.tag_id')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .whereRef('site_tags.site_id', '=', 'sites.id')
        .where('tags.account_id', '=', accountId)
        .as('tags_count'),
      selectFrom('site_statistics')
        .select('site_statistics.page_views')
        .whereRef('site_statistics.site_id', '=', 'sites.id')
        .as('page_views'),
    ])
    .where('site_access.site_id', '=', siteId),
)

/** Sites that an account may see, its own and those it collaborates on, with its favourites and tags. */
function accessibleSites(tx: Tx, accountId: number) {
  return (
    countedSites(tx)
      .innerJoin('site_access', 'site_access.site_id', 'sites.id')
      .select('site_access.rank')
      .where('site_access.account_id', '=', accountId)
      // a parameter here would make SQLite plan anew at each run, to see whether the partial index fits it: 60 µs
      .where('site_access.is_deleted', '=', sql.lit(0))
  )
}

/** Which of an account's sites are asked for. */
export interface SiteSelection {
  /** Only sites that this account owns. */
  readonly ownerId?: number | undefined
  readonly tagName?: string | undefined
  readonly filters?: readonly SiteFilter[]
}

export type SiteFilter =
  | { key: 'name' | 'domain'; part: string }
  | { key: 'state' | 'php_version' | 'datacenter_code'; value: string }
  | { key: 'core_version'; prefix: string }

/** Favourites first, then by name; without `page` all of them. */
export async function listVisibleSites(
  tx: Tx,
  accountId: number,
  selection: SiteSelection = {},
  page?: { perPage: number; offset: number },
): Promise<ListedSite[]> {
  const query = selected(accessibleSites(tx, accountId), accountId, selection)
    .orderBy('site_access.rank')
    .orderBy('site_access.site_name')
  const rows = await (page ? query.limit(page.perPage).offset(page.offset) : query).execute()
  const tags = await tagsOfSites(tx, accountId, page ? rows.map(({ id }) => id) : undefined)
  return rows.map((row) => ({ ...listed(row), isFavorite: row.rank === 0, tags: tags.get(row.id) ?? [] }))
}

export async function countVisibleSites(tx: Tx, accountId: number, selection: SiteSelection = {}): Promise<number> {
  const { count } = await selected(accessibleSites(tx, accountId), accountId, selection)
    .clearSelect()
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

type AccessibleSites = ReturnType<typeof accessibleSites>

function selected(
  query: AccessibleSites,
  accountId: number,
  { ownerId, tagName, filters = [] }: SiteSelection,
): AccessibleSites {
  let result = query
  if (ownerId !== undefined) result = result.where('sites.account_id', '=', ownerId)
  if (tagName !== undefined)
    result = result.where(({ exists, selectFrom }) =>
      exists(
        selectFrom('site_tags')
          .innerJoin('tags', 'tags.id', 'site_tags.tag_id')
          .select('site_tags.site_id')
          .whereRef('site_tags.site_id', '=', 'sites.id')
          .where('tags.account_id', '=', accountId)
          .where('tags.name', '=', tagName),
      ),
    )
  for (const filter of filters) {
    if ('value' in filter) result = result.where(`sites.${filter.key}`, '=', filter.value)
    else if ('prefix' in filter) result = result.where('sites.core_version', 'like', `${escaped(filter.prefix)}%`)
    else if (filter.key === 'name') result = result.where('site_access.site_name', 'like', like(filter.part))
    else
      result = result.where(({ exists, selectFrom }) =>
        exists(
          selectFrom('routes')
            .select('routes.site_id')
            .whereRef('routes.site_id', '=', 'sites.id')
            .where('routes.host_name', 'like', like(filter.part)),
        ),
      )
  }
  return result
}

/** Names and host names are stored in lower case, so that a lower-case pattern is case-blind on both databases. */
const like = (part: string): string => `%${escaped(part.toLowerCase())}%`
/** `%` and `_` of the client stand for themselves; no name has either, so none can match. */
const escaped = (part: string): string => part.replace(/[%_\\]/g, '\u0001')

/** An account's tags by site, in order of id. @param siteIds only of these; all when absent */
async function tagsOfSites(tx: Tx, accountId: number, siteIds?: readonly number[]): Promise<Map<number, Tag[]>> {
  if (siteIds?.length === 0) return new Map()
  const query = tx
    .selectFrom('tags')
    .innerJoin('site_tags', 'site_tags.tag_id', 'tags.id')
    .select(['tags.id', 'tags.name', 'site_tags.site_id'])
    .where('tags.account_id', '=', accountId)
  const rows = await (siteIds ? query.where('site_tags.site_id', 'in', siteIds) : query).execute()
  const bySite = Map.groupBy(
    rows.sort((left, right) => left.id - right.id),
    (row) => row.site_id,
  )
  return new Map([...bySite].map(([siteId, tags]) => [siteId, tags.map(({ id, name }) => ({ id, name }))]))
}

/** Lets an account see a site. Once is enough; again changes nothing. */
export async function grantSight(tx: Tx, accountId: number, site: { id: number; name: string }): Promise<void> {
  await insertSight(tx, { accountId, siteId: site.id, name: site.name })
}

const insertSight = precompiledChange((tx, row: { accountId: number; siteId: number; name: string }) =>
  tx
    .insertInto('site_access')
    .values({ account_id: row.accountId, site_id: row.siteId, site_name: row.name, rank: 1, is_deleted: 0 })
    .onConflict((conflict) => conflict.columns(['account_id', 'site_id']).doNothing()),
)

/** Takes a site out of an account's lists, with the account's favourite mark and tags. */
export async function withdrawSight(tx: Tx, accountId: number, siteId: number): Promise<void> {
  await tx.deleteFrom('site_access').where('account_id', '=', accountId).where('site_id', '=', siteId).execute()
  await tx
    .deleteFrom('site_tags')
    .where('site_id', '=', siteId)
    .where('tag_id', 'in', tx.selectFrom('tags').select('id').where('account_id', '=', accountId))
    .execute()
}

/** A site that is not deleted, for work inside Stead. */
export async function findSite(tx: Tx, siteId: number): Promise<Site | undefined> {
  const row = await tx
    .selectFrom('sites')
    .selectAll()
    .where('id', '=', siteId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  return row && site(row)
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
  readonly hasMultisite: boolean
  readonly adminUsername: string
  readonly adminEmail: string
}

/** @throws a unique violation (see `isUniqueViolation`) when the name is taken */
export async function insertSite(tx: Tx, draft: SiteDraft, now: number): Promise<ListedSite> {
  const [row] = await insertSiteRow(tx, {
    ...draft,
    staging: draft.isStaging ? 1 : 0,
    // whoever works on a staging site wants to see what he has changed, from outside WordPress too
    caches: draft.isStaging ? 0 : 1,
    environmentType: draft.isStaging ? 'staging' : 'production',
    multisite: draft.hasMultisite ? 1 : 0,
    now,
  })
  await grantSight(tx, draft.accountId, row as Selectable<SiteRow>)
  return { ...site(row as Selectable<SiteRow>), domainsCount: 0, collaboratorsCount: 0, isFavorite: false, tags: [] }
}

interface NewSiteRow extends Omit<SiteDraft, 'isStaging' | 'hasMultisite'> {
  readonly staging: 0 | 1
  readonly caches: 0 | 1
  readonly environmentType: EnvironmentType
  readonly multisite: 0 | 1
  readonly now: number
}

const insertSiteRow = precompiled((tx, draft: NewSiteRow) =>
  tx
    .insertInto('sites')
    .values({
      account_id: draft.accountId,
      name: draft.name,
      display_name: draft.name,
      state: 'deploying',
      staging: draft.staging,
      datacenter_code: draft.datacenterCode,
      host_id: draft.hostId,
      php_version: draft.phpVersion,
      core_version: null,
      core_channel: 'stable',
      install: draft.install,
      environment_type: draft.environmentType,
      multisite: draft.multisite,
      light_404: 0,
      edge_cache: draft.caches,
      cdn: draft.caches,
      defensive_until: null,
      maintenance: 0,
      cache_epoch: 1,
      cloned_from_id: null,
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
  readonly writtenAddress?: string
}

/** Changes a site and tells edges and hosts. */
export async function changeSite(tx: Tx, siteId: number, change: SiteChange, now: number): Promise<void> {
  const columns = {
    display_name: change.displayName,
    php_version: change.phpVersion,
    environment_type: change.environmentType,
    state: change.state,
    core_version: change.coreVersion,
    written_address: change.writtenAddress,
  }
  const given = Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined))
  if (Object.keys(given).length > 0) await tx.updateTable('sites').set(given).where('id', '=', siteId).execute()
  await touchRoutes(tx, siteId, now)
}

/** Makes edges and hosts read a site again. */
async function touchRoutes(tx: Tx, siteId: number, now: number): Promise<void> {
  await tx.updateTable('routes').set({ changed_at: now }).where('site_id', '=', siteId).execute()
  await announce(tx, 'routes')
}

/** Gives a site a host name; one that it has already is left alone. */
export async function putRoute(tx: Tx, siteId: number, hostName: string, now: number): Promise<void> {
  await upsertRoute(tx, { hostName, siteId, now })
  await announce(tx, 'routes')
}

const upsertRoute = precompiledChange(
  (tx, { hostName, siteId, now }: { hostName: string; siteId: number; now: number }) =>
    tx
      .insertInto('routes')
      .values({ host_name: hostName, site_id: siteId, changed_at: now })
      .onConflict((conflict) => conflict.column('host_name').doUpdateSet({ site_id: siteId, changed_at: now })),
)

/** Takes a site out of every list and off the edge; its files are removed by an operation. */
export async function markDeleted(tx: Tx, siteId: number, now: number): Promise<void> {
  await tx.updateTable('sites').set({ deleted_at: now }).where('id', '=', siteId).execute()
  await tx.updateTable('site_access').set({ is_deleted: 1 }).where('site_id', '=', siteId).execute()
  await countOnHost(tx, siteId, -1)
  // the rows stay until the files are gone: an edge learns from their change that the host name has no site any more
  await touchRoutes(tx, siteId, now)
}

/** Keeps the number of sites that the site's host had at its last report right. */
async function countOnHost(tx: Tx, siteId: number, change: 1 | -1): Promise<void> {
  await tx
    .updateTable('hosts')
    .set(({ eb }) => ({ counted_sites: eb('counted_sites', '+', change) }))
    .where('id', '=', tx.selectFrom('sites').select('host_id').where('id', '=', siteId))
    .where('counted_to', '>=', siteId)
    .execute()
}

/** Collaborators of a site with their accounts, in order of id. */
export async function listSiteCollaborators(tx: Tx, siteId: number) {
  return tx
    .selectFrom('collaborators')
    .innerJoin('accounts', 'accounts.id', 'collaborators.account_id')
    .select([
      'collaborators.id',
      'collaborators.created_at',
      'collaborators.wp_username',
      'accounts.email',
      'accounts.name',
    ])
    .where('collaborators.site_id', '=', siteId)
    .orderBy('collaborators.id')
    .execute()
}

/** The address that the site's own database holds; `null` while it holds none. */
export async function writtenAddressOf(tx: Tx, siteId: number): Promise<string | null> {
  const row = await tx.selectFrom('sites').select('written_address').where('id', '=', siteId).executeTakeFirst()
  return row?.written_address ?? null
}

/** Replaces one host name of a site by another. */
export async function moveRoute(tx: Tx, siteId: number, from: string, to: string, now: number): Promise<void> {
  if (from !== to) await tx.deleteFrom('routes').where('host_name', '=', from).where('site_id', '=', siteId).execute()
  await putRoute(tx, siteId, to, now)
}

/** After the end of a deleted site. A name that another site has taken meanwhile stays that one's. */
export async function deleteRoutes(tx: Tx, siteId: number): Promise<void> {
  await tx.deleteFrom('routes').where('site_id', '=', siteId).execute()
}

/** The site of this name that was deleted last and whose files are still there. */
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
  return row && site(row)
}

/** Operations that will remove, or are removing, a deleted site's files. */
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

/** Puts a deleted site back into the lists and onto the edge. */
export async function unmarkDeleted(tx: Tx, siteId: number, now: number): Promise<void> {
  await tx.updateTable('sites').set({ deleted_at: null }).where('id', '=', siteId).execute()
  await tx.updateTable('site_access').set({ is_deleted: 0 }).where('site_id', '=', siteId).execute()
  await countOnHost(tx, siteId, 1)
  await touchRoutes(tx, siteId, now)
}

/** Whose collaboration on which site a collaborator id stands for. */
export async function findCollaboration(
  tx: Tx,
  collaboratorId: number,
): Promise<{ accountId: number; siteId: number } | undefined> {
  return tx
    .selectFrom('collaborators')
    .select(['account_id as accountId', 'site_id as siteId'])
    .where('id', '=', collaboratorId)
    .executeTakeFirst()
}
