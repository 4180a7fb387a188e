import { type Expression, expressionBuilder, type Selectable, type SelectQueryBuilder, type SqlBool, sql } from 'kysely'
import { isPostgres, type Tx } from '../../../platform/db/database.ts'
import { isOneOf, listFor, precompiled, precompiledChange } from '../../../platform/db/precompiled.ts'
import { type RowsAsked, rowsOfPage } from '../../../platform/db/rows-of-page.ts'
import type { Schema } from '../../../platform/db/schema.ts'
import type { Role } from '../../access/roles.ts'
import type { License } from '../create/site-license.ts'
import { siteOfRow } from '../site.store.ts'
import type { ListedSite, Tag } from '../site.ts'
import type { SiteRow } from '../tables.ts'
import { columnOf, type SiteOrder, type SortedPlace } from './site-order.ts'
import type { ListPlace } from './site-place.ts'

/* The sites that an account sees, its own and those that it collaborates on, and how it has organized them. */

/** Site that the caller may see, with the caller's rights. */
export interface VisibleSite extends ListedSite {
  /** Whether the caller's account owns it, with every right. */
  readonly isOwned: boolean
  /** The collaborator's roles. Empty for the owner. */
  readonly roles: readonly Role[]
  /** Page views, as statistics store them. `null` for a site that is newer than the last refresh. */
  readonly pageViews: string | null
  /** The newest extension license, revoked or not. */
  readonly license: License | null
}

type CountedRow = Selectable<SiteRow> & { domains_count: number; collaborators_count: number }

const listed = (row: CountedRow): Omit<ListedSite, 'isFavorite' | 'tags'> => ({
  ...siteOfRow(row),
  domainsCount: row.domains_count,
  collaboratorsCount: row.collaborators_count,
})

/** Selects sites that are not deleted, with their counts. */
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

/** @returns `undefined` for a site that does not exist, was deleted, or that this account cannot see */
export async function visibleSite(tx: Tx, accountId: number, siteId: number): Promise<VisibleSite | undefined> {
  const [row] = await visibleSiteRow(tx, { accountId, siteId })
  if (!row) return undefined
  const tags = row.tags_count
    ? ((await tagsOfSites(tx, { accountId, siteIds: listFor(tx, [siteId]) })).get(siteId) ?? [])
    : []
  return {
    ...listed(row),
    isFavorite: row.rank === 0,
    tags,
    isOwned: row.account_id === accountId,
    roles: row.collaborator_roles === null ? [] : (JSON.parse(row.collaborator_roles) as Role[]),
    pageViews: row.page_views,
    license: licenseOf(row),
  }
}

const licenseOf = ({
  id: siteId,
  license_id: id,
  license_key: licenseKey,
  issued_at: issuedAt,
  revoked_at: revokedAt,
}: {
  readonly id: number
  readonly license_id: number | null
  readonly license_key: string | null
  readonly issued_at: number | null
  readonly revoked_at: number | null
}): License | null =>
  id === null || licenseKey === null || issuedAt === null ? null : { id, siteId, licenseKey, issuedAt, revokedAt }

/**
 * Returns the same as {@link visibleSite}, for a transaction that will change the site. Such transactions run one at a
 * time, so that what they read stays valid until they end. Callers who cannot see the site delay no one.
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

/** Every request for a site starts with this query. */
const visibleSiteRow = precompiled((tx, { accountId, siteId }: { accountId: number; siteId: number }) =>
  accessibleSites(tx, accountId)
    .leftJoin('extension_licenses', 'extension_licenses.site_id', 'sites.id')
    .select(({ selectFrom }) => [
      'extension_licenses.id as license_id',
      'extension_licenses.license_key',
      'extension_licenses.issued_at',
      'extension_licenses.revoked_at',
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

/**
 * Selects sites that an account may see, its own and those it collaborates on, with its favorites and tags. Only
 * `sites` is checked for deletion: with a check of `site_access` too, SQLite would walk the index of the lists' order
 * for a few sites.
 */
function accessibleSites(tx: Tx, accountId: number) {
  return countedSites(tx)
    .innerJoin('site_access', 'site_access.site_id', 'sites.id')
    .select('site_access.rank')
    .where('site_access.account_id', '=', accountId)
}

const rowsWithIds = precompiled((tx, { accountId, siteIds }: { accountId: number; siteIds: unknown }) =>
  accessibleSites(tx, accountId).where(isOneOf(tx, 'sites.id', siteIds)),
)

/** Which of an account's sites to select. */
export interface SiteSelection {
  /** Only sites that this account owns. */
  readonly ownerId?: number | undefined
  readonly tagName?: string | undefined
  /** Leaves out environments of live sites that the account sees. */
  readonly isGrouped?: boolean
  readonly filters?: readonly SiteFilter[]
}

export type SiteFilter =
  | { key: 'name' | 'domain' | 'any'; part: string }
  | { key: 'state' | 'php_version' | 'datacenter_code'; value: string }
  | { key: 'cloned_from_id'; value: number }
  | { key: 'staging'; value: 0 | 1 }
  /** The whole name of a tag of the requesting account. */
  | { key: 'tag'; value: string }
  | { key: 'core_version'; prefix: string }

/**
 * Returns a page of an account's sites: favorites first, then by name, from a place if one is given. With `after`, in
 * order of id instead.
 */
export async function listVisibleSites(
  tx: Tx,
  accountId: number,
  selection: SiteSelection,
  page: RowsAsked,
  place?: ListPlace,
): Promise<ListedSite[]> {
  return listSitesWithIds(tx, accountId, await visibleSiteIds(tx, accountId, selection, page, place))
}

/** Returns the ids of an account's sites: favorites first, then by name. Without `page`, returns all of them. */
export async function visibleSiteIds(
  tx: Tx,
  accountId: number,
  selection: SiteSelection = {},
  page?: RowsAsked,
  place?: ListPlace,
): Promise<number[]> {
  const seen = seenSites(tx, accountId, selection).select('seen.site_id')
  const all = place
    ? seen.where(({ eb, refTuple, tuple }) =>
        eb(refTuple('seen.rank', 'seen.site_name'), '>', tuple(place.rank, place.name)),
      )
    : seen
  const query =
    page?.after === undefined ? all.orderBy('seen.rank').orderBy('seen.site_name') : all.orderBy('seen.site_id')
  const rows = await (page ? rowsOfPage(query, page, { column: 'seen.site_id', order: 'asc' }) : query).execute()
  return rows.map((row) => row.site_id)
}

/** Returns the ids of all of an account's sites. */
export async function allSiteIds(
  tx: Tx,
  accountId: number,
  selection: SiteSelection,
  order: SiteOrder | undefined,
): Promise<number[]> {
  if (!order) return visibleSiteIds(tx, accountId, selection)
  return (await sortedSites(tx, accountId, selection, order)).map(({ siteId }) => siteId)
}

/** Returns an account's sites in another order, after a place. Without `page`, returns all of them. */
export async function sortedSites(
  tx: Tx,
  accountId: number,
  selection: SiteSelection,
  { key, isDescending }: SiteOrder,
  page?: RowsAsked & { readonly from?: SortedPlace | undefined },
): Promise<SortedPlace[]> {
  const direction = isDescending ? 'desc' : 'asc'
  const column = columnOf[key]
  const { tagName, filters = [], ...others } = selection
  // The rows of tags only have their own order.
  const tags = tagName === undefined ? [] : [{ key: 'tag' as const, value: tagName }]
  const seen = seenSites(tx, accountId, { ...others, filters: [...filters, ...tags] })
    .select(['seen.site_id as siteId', `${column} as value`])
    .orderBy(column, direction)
    .orderBy('seen.site_id', direction)
  if (!page) return seen.execute()
  const { from, offset, perPage } = page
  const behind = from
    ? seen.where(({ eb, refTuple, tuple }) =>
        eb(refTuple(column, 'seen.site_id'), isDescending ? '<' : '>', tuple(from.value, from.siteId)),
      )
    : seen.offset(offset)
  return behind.limit(perPage).execute()
}

/** Returns these of an account's sites, in this order. Omits those that it no longer sees. */
export async function listSitesWithIds(tx: Tx, accountId: number, siteIds: readonly number[]): Promise<ListedSite[]> {
  if (siteIds.length === 0) return []
  const given = { accountId, siteIds: listFor(tx, siteIds) }
  const [rows, tags] = await Promise.all([rowsWithIds(tx, given), tagsOfSites(tx, given)])
  const sites = new Map(
    rows.map((row) => [row.id, { ...listed(row), isFavorite: row.rank === 0, tags: tags.get(row.id) ?? [] }]),
  )
  return siteIds.flatMap((id) => sites.get(id) ?? [])
}

export async function countVisibleSites(tx: Tx, accountId: number, selection: SiteSelection = {}): Promise<number> {
  const { count } = await seenSites(tx, accountId, selection)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

/**
 * The rows that order a list of sites: those of `site_access`, or with a tag those of `site_tags`, which repeat the
 * same values.
 */
interface Seen {
  site_id: number
  site_name: string
  rank: number
  is_deleted: number
  /** Only in `site_access`. */
  php_version: string
  used_bytes: number
}

/**
 * Selects the sites of a list from the index of its order only. The sites themselves are read only for filters that
 * need them.
 */
function seenSites(tx: Tx, accountId: number, { ownerId, tagName, isGrouped, filters = [] }: SiteSelection) {
  const rows =
    tagName === undefined
      ? tx.selectFrom('site_access as seen').where('seen.account_id', '=', accountId)
      : tx
          .selectFrom('site_tags as seen')
          .where('seen.tag_id', '=', ({ selectFrom }) =>
            selectFrom('tags')
              .select('tags.id')
              .where('tags.account_id', '=', accountId)
              .where('tags.name', '=', tagName),
          )
  let seen = (rows as unknown as SelectQueryBuilder<Schema & { seen: Seen }, 'seen', object>)
    // With a parameter here, SQLite would plan again at each run, to see whether the partial index fits it: 60 µs.
    .where('seen.is_deleted', '=', sql.lit(0))
  if (isGrouped) seen = seen.where(({ not }) => not(isBelowLiveSite(accountId)))
  const ofSites: Expression<SqlBool>[] = []
  const site = expressionBuilder<Schema, 'sites'>()
  if (ownerId !== undefined) ofSites.push(site('sites.account_id', '=', ownerId))
  for (const filter of filters) {
    if (filter.key === 'tag') seen = seen.where(hasTag(accountId, rowsOfTags('tags.name', '=', filter.value)))
    else if ('value' in filter) ofSites.push(site(`sites.${filter.key}`, '=', filter.value))
    else if ('prefix' in filter) ofSites.push(site('sites.core_version', 'like', `${escaped(filter.prefix)}%`))
    else if (filter.key === 'name') seen = seen.where('seen.site_name', 'like', like(filter.part))
    else if (filter.key === 'domain') seen = seen.where(hasHostName(filter.part))
    else
      seen = seen.where(({ eb, or }) =>
        or([
          eb('seen.site_name', 'like', like(filter.part)),
          isCalled(filter.part),
          hasHostName(filter.part),
          hasTag(accountId, containsText('tags.name', filter.part)),
        ]),
      )
  }
  if (ofSites.length === 0) return seen
  return seen.where(({ exists, selectFrom }) =>
    exists(selectFrom('sites').select('sites.id').whereRef('sites.id', '=', 'seen.site_id').where(site.and(ofSites))),
  )
}

const rowsOf = expressionBuilder<Schema & { seen: Seen }, 'seen'>()

const isBelowLiveSite = (accountId: number): Expression<SqlBool> =>
  rowsOf.exists(
    rowsOf
      .selectFrom('site_environments')
      .innerJoin('site_access as live', 'live.site_id', 'site_environments.live_site_id')
      .select('site_environments.site_id')
      .whereRef('site_environments.site_id', '=', 'seen.site_id')
      .where('live.account_id', '=', accountId)
      .where('live.is_deleted', '=', sql.lit(0)),
  )

const hasHostName = (part: string): Expression<SqlBool> =>
  rowsOf.exists(
    rowsOf
      .selectFrom('routes')
      .select('routes.site_id')
      .whereRef('routes.site_id', '=', 'seen.site_id')
      .where('routes.host_name', 'like', like(part)),
  )

/** Matches the display name, ignoring case. */
const isCalled = (part: string): Expression<SqlBool> =>
  rowsOf.exists(
    rowsOf
      .selectFrom('sites as called')
      .select('called.id')
      .whereRef('called.id', '=', 'seen.site_id')
      .where(containsText('called.display_name', part)),
  )

const rowsOfTags = expressionBuilder<Schema, 'tags'>()

/**
 * Matches sites by a tag of the account.
 * @param isMeant condition on the tag's name
 */
const hasTag = (accountId: number, isMeant: Expression<SqlBool>): Expression<SqlBool> =>
  rowsOf.exists(
    rowsOf
      .selectFrom('site_tags')
      .innerJoin('tags', 'tags.id', 'site_tags.tag_id')
      .select('tags.id')
      .whereRef('site_tags.site_id', '=', 'seen.site_id')
      .where('tags.account_id', '=', accountId)
      .where(isMeant),
  )

/**
 * Matches text that users wrote, with any characters. Ignores case (on SQLite only of Latin letters without accents).
 */
const containsText = (column: string, part: string) =>
  sql<SqlBool>`lower(${sql.ref(column)}) like ${`%${part.toLowerCase().replace(/[%_\\]/g, '\\$&')}%`} escape '\\'`

/**
 * Returns a lower-case pattern. Names and host names are stored in lower case, so this ignores case on both databases.
 */
const like = (part: string): string => `%${escaped(part.toLowerCase())}%`
/** Takes `%` and `_` from the client literally. Since no name contains either, they match nothing. */
const escaped = (part: string): string => part.replace(/[%_\\]/g, '\u0001')

/** Returns an account's tags by site, in order of id. */
async function tagsOfSites(tx: Tx, given: { accountId: number; siteIds: unknown }): Promise<Map<number, Tag[]>> {
  const rows = await tagRows(tx, given)
  const bySite = Map.groupBy(
    rows.sort((left, right) => left.id - right.id),
    (row) => row.site_id,
  )
  return new Map([...bySite].map(([siteId, tags]) => [siteId, tags.map(({ id, name }) => ({ id, name }))]))
}

const tagRows = precompiled((tx, { accountId, siteIds }: { accountId: number; siteIds: unknown }) =>
  tx
    .selectFrom('site_tags')
    .innerJoin('tags', 'tags.id', 'site_tags.tag_id')
    .select(['tags.id', 'tags.name', 'site_tags.site_id'])
    .where(isOneOf(tx, 'site_tags.site_id', siteIds))
    .where('tags.account_id', '=', accountId),
)

/** Returns the collaborators of a site with their accounts, in order of id. */
export async function collaboratorsInDetail(tx: Tx, siteId: number) {
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

/** Returns the account and the site of a collaborator id. */
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
