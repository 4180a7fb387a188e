import { type Expression, type SqlBool, sql } from 'kysely'
import type { Tx } from '../../platform/db/database.ts'
import type { SiteExtensionRow } from './tables.ts'

/** Which plugins or themes of an account's sites a list has. */
export interface InventoryFilter {
  readonly accountId: number
  readonly kind: SiteExtensionRow['kind']
  /** Part of the slug or the name. */
  readonly part?: string | undefined
  /** Whether at least one site has an update, or whether none has. */
  readonly isDue?: boolean | undefined
  readonly isActive?: boolean | undefined
  /** Only those of this site. */
  readonly siteId?: number | undefined
}

interface Paging {
  readonly perPage: number
  readonly offset: number
}

/** Returns a page of plugins or themes, those of the most sites first. */
export function extensionsPage(tx: Tx, filter: InventoryFilter, { perPage, offset }: Paging) {
  return groups(tx, filter)
    .select(({ fn }) => [
      'slug',
      fn.sum<number>('sites').as('sites'),
      fn.sum<number>('active').as('active'),
      fn.sum<number>('update_due').as('update_due'),
      fn.sum<number>('automatic').as('automatic'),
    ])
    .orderBy('sites', 'desc')
    .orderBy('slug')
    .limit(perPage)
    .offset(offset)
    .execute()
}

export async function extensionsCount(tx: Tx, filter: InventoryFilter): Promise<number> {
  const { count } = await tx
    .selectFrom(groups(tx, filter).select('slug').as('slugs'))
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}

function groups(tx: Tx, { accountId, kind, part, isDue, isActive, siteId }: InventoryFilter) {
  let query = tx
    .selectFrom('extension_counts')
    .where('account_id', '=', accountId)
    .where('kind', '=', kind)
    .groupBy('slug')
  if (part !== undefined)
    query = query.where('slug', 'in', (of) =>
      of
        .selectFrom('extension_counts as named')
        .select('named.slug')
        .where('named.account_id', '=', accountId)
        .where('named.kind', '=', kind)
        .where(({ or }) => or([contains('named.slug', part), contains('named.title', part)])),
    )
  if (siteId !== undefined)
    query = query.where('slug', 'in', (of) =>
      of
        .selectFrom('site_extensions')
        .innerJoin('site_access', 'site_access.site_id', 'site_extensions.site_id')
        .select('site_extensions.slug')
        .where('site_extensions.site_id', '=', siteId)
        .where('site_extensions.kind', '=', kind)
        .where('site_access.account_id', '=', accountId)
        .where('site_access.is_deleted', '=', 0),
    )
  const some = (column: 'update_due' | 'active', isWanted: boolean) =>
    isWanted ? sql<boolean>`sum(${sql.ref(column)}) > 0` : sql<boolean>`sum(${sql.ref(column)}) = 0`
  if (isDue !== undefined) query = query.having(some('update_due', isDue))
  if (isActive !== undefined) query = query.having(some('active', isActive))
  return query
}

const contains = (column: string, part: string): Expression<SqlBool> =>
  sql<SqlBool>`lower(${sql.ref(column)}) like ${`%${part.toLowerCase().replace(/[%_\\]/g, '\\$&')}%`} escape '\\'`

/** Returns the versions of plugins or themes, those of the most sites first. */
export async function versionsOf(tx: Tx, { accountId, kind }: InventoryFilter, slugs: readonly string[]) {
  if (slugs.length === 0) return []
  return tx
    .selectFrom('extension_counts')
    .select(['slug', 'version', 'title', 'sites'])
    .where('account_id', '=', accountId)
    .where('kind', '=', kind)
    .where('slug', 'in', slugs)
    .orderBy('sites', 'desc')
    .orderBy('version', 'desc')
    .execute()
}

/** Which of an account's sites a list has: those with a plugin or theme. */
export interface SitesFilter {
  readonly accountId: number
  readonly kind: SiteExtensionRow['kind']
  readonly slug: string
  readonly version?: string | undefined
  readonly isDue?: boolean | undefined
  readonly isActive?: boolean | undefined
}

/** Returns a page of the sites that have a plugin or theme, by name, or after a site in order of ID. */
export function sitesPage(tx: Tx, filter: SitesFilter, page: Paging & { readonly after?: number | undefined }) {
  const { after, perPage, offset } = page
  const all = sitesWith(tx, filter).select([
    'seen.site_id',
    'seen.site_name',
    ...ofSite.map((it) => `found.${it}` as const),
  ])
  const some =
    after === undefined
      ? all.orderBy('seen.site_name').offset(offset)
      : all.where('seen.site_id', '>', after).orderBy('seen.site_id')
  // Reads sites only for the page.
  return tx
    .selectFrom(some.limit(perPage).as('page'))
    .innerJoin('sites', 'sites.id', 'page.site_id')
    .select(['sites.id', 'sites.name', 'sites.display_name', 'sites.primary_domain', 'sites.staging'])
    .select(ofSite.map((it) => `page.${it}` as const))
    .orderBy(after === undefined ? 'page.site_name' : 'page.site_id')
    .execute()
}

const ofSite = ['version', 'is_active', 'update_version', 'is_automatic'] as const

export async function sitesCount(tx: Tx, filter: SitesFilter): Promise<number> {
  const { count } = await sitesWith(tx, filter)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}

function sitesWith(tx: Tx, { accountId, kind, slug, version, isDue, isActive }: SitesFilter) {
  let query = tx
    .selectFrom('site_access as seen')
    .innerJoin('site_extensions as found', 'found.site_id', 'seen.site_id')
    .where('seen.account_id', '=', accountId)
    // With a parameter here, SQLite would plan again at each run, to see whether the partial index fits it.
    .where(sql<boolean>`seen.is_deleted = 0`)
    .where('found.kind', '=', kind)
    .where('found.slug', '=', slug)
  if (version !== undefined) query = query.where('found.version', '=', version)
  if (isActive !== undefined) query = query.where('found.is_active', '=', isActive ? 1 : 0)
  if (isDue !== undefined) query = query.where('found.update_version', isDue ? 'is not' : 'is', null)
  return query
}

/** Returns whether at least one of the account's sites has the plugin or theme. */
export async function isSeenWith(tx: Tx, { accountId, kind, slug }: SitesFilter): Promise<boolean> {
  const query = tx.selectFrom('extension_counts').select('slug').where('account_id', '=', accountId)
  return (await query.where('kind', '=', kind).where('slug', '=', slug).limit(1).execute()).length > 0
}
