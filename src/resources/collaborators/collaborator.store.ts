import type { Tx } from '../../platform/db/database.ts'
import type { Role } from '../access/roles.ts'
import { forgetPersonOf, notePerson } from '../search/public.ts'
import type { Collaborator } from './collaborator.ts'

/** Selects collaborators of sites that are not deleted. */
function collaborators(tx: Tx) {
  return tx
    .selectFrom('collaborators')
    .innerJoin('accounts', 'accounts.id', 'collaborators.account_id')
    .innerJoin('sites', 'sites.id', 'collaborators.site_id')
    .selectAll('collaborators')
    .select(['accounts.email', 'accounts.name', 'sites.name as site_name'])
    .where('sites.deleted_at', 'is', null)
}

type Row = Awaited<ReturnType<ReturnType<typeof collaborators>['execute']>>[number]

const collaborator = (row: Row): Collaborator => ({
  id: row.id,
  siteId: row.site_id,
  siteName: row.site_name,
  accountId: row.account_id,
  email: row.email,
  name: row.name,
  ownerAccountId: row.owner_account_id,
  state: row.state,
  wpUsername: row.wp_username,
  roles: JSON.parse(row.roles) as Role[],
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})

/** Returns collaborators on the account's sites, and the account's own collaborations, in order of id. */
export async function collaboratorsAround(tx: Tx, accountId: number): Promise<Collaborator[]> {
  // Two ranges of two indexes. No row is in both, because no account collaborates on its own site.
  const [ofOwnSites, own] = await Promise.all([
    collaborators(tx).where('collaborators.owner_account_id', '=', accountId).orderBy('collaborators.id').execute(),
    collaborators(tx).where('collaborators.account_id', '=', accountId).orderBy('collaborators.id').execute(),
  ])
  return [...ofOwnSites, ...own].sort((left, right) => left.id - right.id).map(collaborator)
}

/** Returns one of those that {@link collaboratorsAround} lists. */
export async function findCollaborator(tx: Tx, accountId: number, id: number): Promise<Collaborator | undefined> {
  const row = await collaborators(tx)
    .where('collaborators.id', '=', id)
    .where(({ or, eb }) =>
      or([eb('collaborators.owner_account_id', '=', accountId), eb('collaborators.account_id', '=', accountId)]),
    )
    .executeTakeFirst()
  return row && collaborator(row)
}

/** Returns the collaborators of a site, in order of id. */
export async function listCollaboratorsOfSite(tx: Tx, siteId: number): Promise<Collaborator[]> {
  const rows = await collaborators(tx).where('collaborators.site_id', '=', siteId).orderBy('collaborators.id').execute()
  return rows.map(collaborator)
}

export async function findCollaboratorOfSite(tx: Tx, siteId: number, id: number): Promise<Collaborator | undefined> {
  const row = await collaborators(tx)
    .where('collaborators.site_id', '=', siteId)
    .where('collaborators.id', '=', id)
    .executeTakeFirst()
  return row && collaborator(row)
}

/** Returns an account's collaboration on a site. */
export async function findMembership(tx: Tx, siteId: number, accountId: number): Promise<Collaborator | undefined> {
  const row = await collaborators(tx)
    .where('collaborators.account_id', '=', accountId)
    .where('collaborators.site_id', '=', siteId)
    .executeTakeFirst()
  return row && collaborator(row)
}

/**
 * Returns which of the sites an account collaborates on.
 * @param siteIds at most 10,000
 */
export async function membershipsAmong(
  tx: Tx,
  accountId: number,
  siteIds: readonly number[],
): Promise<ReadonlySet<number>> {
  if (siteIds.length === 0) return new Set()
  const rows = await tx.selectFrom('collaborators').select('site_id').where('account_id', '=', accountId).execute()
  const asked = new Set(siteIds)
  return new Set(rows.map((row) => row.site_id).filter((id) => asked.has(id)))
}

/** @throws a unique violation when the account is already on the site */
export async function insertCollaborator(
  tx: Tx,
  values: {
    siteId: number
    accountId: number
    ownerAccountId: number
    wpUsername: string
    roles: readonly Role[]
    now: number
  },
): Promise<number> {
  const { id } = await tx
    .insertInto('collaborators')
    .values({
      site_id: values.siteId,
      account_id: values.accountId,
      owner_account_id: values.ownerAccountId,
      state: 'active',
      wp_username: values.wpUsername,
      roles: JSON.stringify(values.roles),
      created_at: values.now,
      updated_at: values.now,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  await notePerson(tx, values.ownerAccountId, values.accountId)
  return id
}

export async function setRoles(tx: Tx, id: number, roles: readonly Role[], now: number): Promise<void> {
  await tx
    .updateTable('collaborators')
    .set({ roles: JSON.stringify(roles), updated_at: now })
    .where('id', '=', id)
    .execute()
}

/** Sets the name of the collaborator's user in WordPress, which may have existed before with its own name. */
export async function setWpUsername(tx: Tx, siteId: number, accountId: number, wpUsername: string): Promise<void> {
  await tx
    .updateTable('collaborators')
    .set({ wp_username: wpUsername })
    .where('site_id', '=', siteId)
    .where('account_id', '=', accountId)
    .execute()
}

export async function deleteCollaboratorsOfSite(tx: Tx, siteId: number): Promise<void> {
  const gone = await tx
    .deleteFrom('collaborators')
    .where('site_id', '=', siteId)
    .returning(['owner_account_id', 'account_id'])
    .execute()
  for (const row of gone) await forgetPersonOf(tx, row.owner_account_id, row.account_id)
}

export async function deleteCollaborator(tx: Tx, id: number): Promise<void> {
  const gone = await tx
    .deleteFrom('collaborators')
    .where('id', '=', id)
    .returning(['owner_account_id', 'account_id'])
    .executeTakeFirst()
  if (gone) await forgetPersonOf(tx, gone.owner_account_id, gone.account_id)
}

/** Returns the sites of others that an account collaborates on, in order of id. */
export async function sharedSites(tx: Tx, accountId: number): Promise<number[]> {
  const rows = await collaborators(tx).where('collaborators.account_id', '=', accountId).execute()
  return rows.map((row) => row.site_id).sort((left, right) => left - right)
}

/** Deletes what is left of an account: collaborations on sites in the trash, and account-level access. */
export async function deleteCollaborationsOf(tx: Tx, accountId: number): Promise<void> {
  for (const table of ['collaborators', 'account_access'] as const)
    for (const column of ['account_id', 'owner_account_id'] as const)
      await tx.deleteFrom(table).where(column, '=', accountId).execute()
}
