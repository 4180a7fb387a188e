import type { Tx } from '../../platform/db/database.ts'
import { type Branding, noBranding } from './branding.ts'
import type { AccountBrandingRow } from './tables.ts'

export const findBranding = (tx: Tx, accountId: number): Promise<AccountBrandingRow | undefined> =>
  tx.selectFrom('account_branding').selectAll().where('account_id', '=', accountId).executeTakeFirst()

/** Returns what an account shows to its clients. */
export async function brandingOf(tx: Tx, accountId: number): Promise<Branding> {
  const row = await findBranding(tx, accountId)
  if (!row) return noBranding
  const { name, color, logo, logo_type: type, reply_to: replyTo } = row
  return { name, color, logo: logo && type && `data:${type};base64,${logo}`, replyTo }
}

/** Changes some fields. The others stay. */
export async function changeBranding(
  tx: Tx,
  accountId: number,
  changes: Partial<Omit<AccountBrandingRow, 'account_id' | 'updated_at'>>,
  now: number,
): Promise<void> {
  const none = { name: null, color: null, logo: null, logo_type: null, reply_to: null }
  await tx
    .insertInto('account_branding')
    .values({ account_id: accountId, ...none, ...changes, updated_at: now })
    .onConflict((conflict) => conflict.column('account_id').doUpdateSet({ ...changes, updated_at: now }))
    .execute()
}

export async function forgetBranding(tx: Tx, accountId: number): Promise<void> {
  await tx.deleteFrom('account_branding').where('account_id', '=', accountId).execute()
}
