import type { Tx } from '../../platform/db/database.ts'
import { precompiled } from '../../platform/db/precompiled.ts'
import type { Role } from '../access/roles.ts'

/** What an owner allows another account beyond single sites. */
export interface AccountAccess {
  readonly ownerAccountId: number
  readonly accountId: number
  /** Whether it joins every site that is created from now on. */
  readonly addToAllNew: boolean
  /** Whether it may create sites that the owner owns. */
  readonly createSite: boolean
  /** Roles on the sites that it joins. */
  readonly roles: readonly Role[]
}

export async function mayCreateSitesFor(tx: Tx, ownerAccountId: number, accountId: number): Promise<boolean> {
  const row = await tx
    .selectFrom('account_access')
    .select('create_site')
    .where('owner_account_id', '=', ownerAccountId)
    .where('account_id', '=', accountId)
    .executeTakeFirst()
  return row?.create_site === 1
}

export async function findAccountAccess(
  tx: Tx,
  ownerAccountId: number,
  accountId: number,
): Promise<AccountAccess | undefined> {
  return (await accountAccess(tx, ownerAccountId)).find((each) => each.accountId === accountId)
}

/** Returns the accounts with account-level access from an owner, in order of account. */
export async function accountAccess(tx: Tx, ownerAccountId: number): Promise<AccountAccess[]> {
  const rows = await accessRows(tx, { ownerAccountId })
  return rows.map((row) => ({
    ownerAccountId: row.owner_account_id,
    accountId: row.account_id,
    addToAllNew: row.add_to_all_new === 1,
    createSite: row.create_site === 1,
    roles: JSON.parse(row.roles) as Role[],
  }))
}

const accessRows = precompiled((tx, { ownerAccountId }: { ownerAccountId: number }) =>
  tx.selectFrom('account_access').selectAll().where('owner_account_id', '=', ownerAccountId).orderBy('account_id'),
)

export async function putAccountAccess(tx: Tx, access: AccountAccess): Promise<void> {
  const rights = {
    add_to_all_new: access.addToAllNew ? (1 as const) : (0 as const),
    create_site: access.createSite ? (1 as const) : (0 as const),
    roles: JSON.stringify(access.roles),
  }
  await tx
    .insertInto('account_access')
    .values({ owner_account_id: access.ownerAccountId, account_id: access.accountId, ...rights })
    .onConflict((conflict) => conflict.columns(['owner_account_id', 'account_id']).doUpdateSet(rights))
    .execute()
}

/** @returns whether there was access to end */
export async function endAccountAccess(tx: Tx, ownerAccountId: number, accountId: number): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('account_access')
    .where('owner_account_id', '=', ownerAccountId)
    .where('account_id', '=', accountId)
    .executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}
