import type { Tx } from '../../platform/db/database.ts'
import { precompiled } from '../../platform/db/precompiled.ts'
import type { Account } from './account.store.ts'
import { type AttachedAddon, capacityOf } from './addons.ts'
import { type Plan, planNamed } from './plans.ts'

/** Returns the add-ons of an account, in order of add-on. */
export async function addonsOfAccount(tx: Tx, accountId: number): Promise<AttachedAddon[]> {
  const rows = await addonRows(tx, { accountId })
  return rows.map((row) => ({ addonId: row.addon_id, quantity: row.quantity }))
}

const addonRows = precompiled((tx, { accountId }: { accountId: number }) =>
  tx
    .selectFrom('account_addons')
    .select(['addon_id', 'quantity'])
    .where('account_id', '=', accountId)
    .orderBy('addon_id'),
)

/** Sets the total quantity of an add-on of an account. 0 detaches it. */
export async function setAddonQuantity(tx: Tx, accountId: number, { addonId, quantity }: AttachedAddon): Promise<void> {
  if (quantity === 0) {
    await tx.deleteFrom('account_addons').where('account_id', '=', accountId).where('addon_id', '=', addonId).execute()
    return
  }
  await tx
    .insertInto('account_addons')
    .values({ account_id: accountId, addon_id: addonId, quantity })
    .onConflict((conflict) => conflict.columns(['account_id', 'addon_id']).doUpdateSet({ quantity }))
    .execute()
}

/** Counts against an account's plan, which include disabled sites. */
export interface PlanUsage {
  readonly billable: number
  readonly staging: number
}

/**
 * Returns the capacity and the usage of an account, and its add-ons in order, from one query. Lock the account before
 * decisions that depend on it.
 */
export async function capacityAndUsage(
  tx: Tx,
  account: Pick<Account, 'id' | 'plan'>,
): Promise<{ capacity: Plan; attached: AttachedAddon[]; usage: PlanUsage }> {
  const rows = await usageRows(tx, { accountId: account.id })
  const attached = rows.flatMap(({ addon_id: addonId, quantity }) =>
    addonId === null || quantity === null ? [] : [{ addonId, quantity }],
  )
  const usage = { billable: Number(rows[0]?.billable ?? 0), staging: Number(rows[0]?.in_staging ?? 0) }
  return { capacity: capacityOf(planNamed(account.plan), attached), attached, usage }
}

const usageRows = precompiled((tx, { accountId }: { accountId: number }) => {
  const sitesOf = (staging: 0 | 1) =>
    tx
      .selectFrom('sites')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('sites.account_id', '=', accountId)
      .where('sites.deleted_at', 'is', null)
      .where('sites.staging', '=', staging)
  return tx
    .selectFrom('accounts')
    .leftJoin('account_addons', 'account_addons.account_id', 'accounts.id')
    .select(['addon_id', 'quantity', sitesOf(0).as('billable'), sitesOf(1).as('in_staging')])
    .where('accounts.id', '=', accountId)
    .orderBy('addon_id')
})

/** Returns plan and add-ons together. Lock the account before decisions that depend on it. */
export const capacityOfAccount = async (tx: Tx, account: Account): Promise<Plan> =>
  capacityOf(planNamed(account.plan), await addonsOfAccount(tx, account.id))
