import { lockForUpdate, type Tx } from '../../../platform/db/database.ts'
import { notFound } from '../../../platform/http/problem.ts'
import { setSuspended } from '../../account/public.ts'
import { touchRoutesOfAccount } from '../../sites/public.ts'
import { type AccountUsage, listAccountUsage } from '../accounts.store.ts'
import { presentAccount } from './present-account.ts'

/**
 * Returns the account, held until the transaction ends.
 * @throws Problem `not_found`
 */
export async function accountToChange(tx: Tx, id: number): Promise<AccountUsage> {
  await lockForUpdate(tx, 'accounts', id)
  const [account] = await listAccountUsage(tx, { perPage: 1, offset: 0 }, id)
  if (!account) throw notFound()
  return account
}

/**
 * Suspends an account, or resumes it. Changes nothing if it is already in that state.
 * @param at null resumes it
 * @param record called when the state changes
 */
export async function changeSuspension(
  tx: Tx,
  account: AccountUsage,
  at: number | null,
  record: () => Promise<void>,
): Promise<ReturnType<typeof presentAccount>> {
  const isChange = (account.suspendedAt === null) !== (at === null)
  if (!isChange) return presentAccount(account)
  await setSuspended(tx, account.id, at)
  await touchRoutesOfAccount(tx, account.id)
  await record()
  return presentAccount({ ...account, suspendedAt: at })
}
