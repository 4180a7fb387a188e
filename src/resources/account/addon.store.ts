import type { Tx } from '../../platform/db/database.ts'
import type { Account } from './account.store.ts'
import { type AttachedAddon, capacityOf } from './addons.ts'
import { type Plan, planNamed } from './plans.ts'

/** In order of add-on. */
export async function listAttachedAddons(tx: Tx, accountId: number): Promise<AttachedAddon[]> {
  const rows = await tx
    .selectFrom('account_addons')
    .select(['addon_id', 'quantity'])
    .where('account_id', '=', accountId)
    .orderBy('addon_id')
    .execute()
  return rows.map((row) => ({ addonId: row.addon_id, quantity: row.quantity }))
}

/** Sets how many of an add-on an account has altogether; 0 detaches it. */
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

/** Plan and add-ons together. To decide by it, lock the account first. */
export const capacityOfAccount = async (tx: Tx, account: Account): Promise<Plan> =>
  capacityOf(planNamed(account.plan), await listAttachedAddons(tx, account.id))
