import type { Tx } from '../../platform/db/database.ts'
import type { Role } from '../access/roles.ts'

/** What one account may do on one site. */
export interface SiteRights {
  readonly id: number
  readonly name: string
  /** The owner. */
  readonly accountId: number
  /** Whether the account owns it, with every right. */
  readonly isOwned: boolean
  /** The collaborator's roles. Empty for the owner. */
  readonly roles: readonly Role[]
}

/**
 * Returns what an account may do on the sites that it sees, in order of id.
 * @param siteIds limits the result to these sites
 */
export async function sitesWithRights(tx: Tx, accountId: number, siteIds?: readonly number[]): Promise<SiteRights[]> {
  if (siteIds?.length === 0) return []
  const query = tx
    .selectFrom('site_access')
    .innerJoin('sites', 'sites.id', 'site_access.site_id')
    .leftJoin('collaborators', (join) =>
      join
        .onRef('collaborators.site_id', '=', 'site_access.site_id')
        .onRef('collaborators.account_id', '=', 'site_access.account_id'),
    )
    .select(['sites.id', 'sites.name', 'sites.account_id', 'collaborators.roles'])
    .where('site_access.account_id', '=', accountId)
    .where('site_access.is_deleted', '=', 0)
  const rows = await (siteIds ? query.where('site_access.site_id', 'in', siteIds) : query).execute()
  const rights = rows.map((row) => ({
    id: row.id,
    name: row.name,
    accountId: row.account_id,
    isOwned: row.account_id === accountId,
    roles: row.roles === null ? [] : (JSON.parse(row.roles) as Role[]),
  }))
  return rights.sort((left, right) => left.id - right.id)
}

/** Returns the display names of sites, by id, if the account sees them. */
export async function displayNames(
  tx: Tx,
  accountId: number,
  siteIds: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  if (siteIds.length === 0) return new Map()
  const rows = await tx
    .selectFrom('site_access')
    .innerJoin('sites', 'sites.id', 'site_access.site_id')
    .select(['sites.id', 'sites.display_name'])
    .where('site_access.account_id', '=', accountId)
    .where('site_access.is_deleted', '=', 0)
    .where('site_access.site_id', 'in', [...new Set(siteIds)])
    .execute()
  return new Map(rows.map((row) => [row.id, row.display_name]))
}

/**
 * Returns what accounts may do on sites, including deleted ones.
 * @returns by site, then by account: `undefined` for an account that neither owns the site nor collaborates on it
 */
export async function rightsAmong(
  tx: Tx,
  accountIds: readonly number[],
  siteIds: readonly number[],
): Promise<Map<number, (accountId: number) => SiteRights | undefined>> {
  if (accountIds.length === 0 || siteIds.length === 0) return new Map()
  const rows = await tx
    .selectFrom('sites')
    .leftJoin('collaborators', (join) =>
      join.onRef('collaborators.site_id', '=', 'sites.id').on('collaborators.account_id', 'in', [...accountIds]),
    )
    .select([
      'sites.id',
      'sites.name',
      'sites.account_id',
      'collaborators.account_id as member_id',
      'collaborators.roles',
    ])
    .where('sites.id', 'in', [...siteIds])
    .execute()
  const bySite = Map.groupBy(rows, ({ id }) => id)
  return new Map(
    [...bySite].map(([id, members]) => [
      id,
      (accountId) => {
        const { name, account_id: ownerId } = members[0] as (typeof rows)[number]
        const roles = members.find(({ member_id }) => member_id === accountId)?.roles
        if (accountId !== ownerId && roles == null) return undefined
        return { id, name, accountId: ownerId, isOwned: accountId === ownerId, roles: roles ? JSON.parse(roles) : [] }
      },
    ]),
  )
}

/** Returns all sites of an owner, in order of id. */
export async function ownedSites(tx: Tx, ownerId: number): Promise<SiteRights[]> {
  const rows = await tx
    .selectFrom('sites')
    .select(['id', 'name'])
    .where('account_id', '=', ownerId)
    .where('deleted_at', 'is', null)
    .execute()
  return rows
    .map(({ id, name }) => ({ id, name, accountId: ownerId, isOwned: true, roles: [] }))
    .sort((left, right) => left.id - right.id)
}
