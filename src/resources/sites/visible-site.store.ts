import { type Selectable, sql } from 'kysely'
import { isPostgres, type Tx } from '../../platform/db/database.ts'
import { precompiled, precompiledChange } from '../../platform/db/precompiled.ts'
import type { Role } from '../roles.ts'
import { siteOfRow } from './site.store.ts'
import type { ListedSite, Tag } from './site.ts'
import type { SiteRow } from './tables.ts'

/* Which sites an account sees, its own and those that it collaborates on, and how it has arranged them. */

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

const listed = (row: CountedRow): Omit<ListedSite, 'isFavorite' | 'tags'> => ({
  ...siteOfRow(row),
  domainsCount: row.domains_count,
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
        .where('routes.is_domain', '=', sql.lit(1))
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

/**
 * As {@link visibleSite}, for a transaction that is to change the site: one at a time, so that what it sees stays so until it ends. Who
 * does not see the site holds nobody up.
 */
export async function holdVisibleSite(tx: Tx, accountId: number, siteId: number): Promise<VisibleSite | undefined> {
  if (isPostgres(tx)) await lockVisibleSite(tx, { accountId, siteId })
  return visibleSite(tx, accountId, siteId)
}

const lockVisibleSite = precompiledChange((tx, { accountId, siteId }: { accountId: number; siteId: number }) =>
  tx
    .selectFrom('sites')
    .select('id')
    .where('id', '=', siteId)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('site_access')
          .select('site_id')
          .where('account_id', '=', accountId)
          .where('site_id', '=', siteId)
          .where('is_deleted', '=', sql.lit(0)),
      ),
    )
    .forNoKeyUpdate(),
)

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

/** Collaborators of a site with their accounts, in order of id. */
export async function listSiteCollaborators(tx: Tx, siteId: number) {
  return tx
    .selectFrom('collaborators')
    .innerJoin('accounts', 'accounts.id', 'collaborators.account_id')
    .leftJoin('sftp_users', (join) =>
      join
        .onRef('sftp_users.site_id', '=', 'collaborators.site_id')
        .onRef('sftp_users.account_id', '=', 'collaborators.account_id'),
    )
    .select([
      'collaborators.id',
      'collaborators.created_at',
      'collaborators.wp_username',
      'sftp_users.username as sftp_username',
      'accounts.email',
      'accounts.name',
    ])
    .where('collaborators.site_id', '=', siteId)
    .orderBy('collaborators.id')
    .execute()
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
