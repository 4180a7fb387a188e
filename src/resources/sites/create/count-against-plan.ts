import { lockForUpdate, type Tx } from '../../../platform/db/database.ts'
import type { Account } from '../../account/account.ts'
import { capacityAndUsage } from '../../account/addons.ts'
import { checkCapacity } from './placement.ts'

/**
 * One site more, of one kind, at a time for an account, as PostgreSQL overlaps transactions; last, so that the others wait for a count and a
 * commit only. @throws Problem `site_limit_reached` when the site, which is counted as well, is one too many
 */
export async function countAgainstPlan(
  tx: Tx,
  account: Pick<Account, 'id' | 'plan'>,
  isStaging: boolean,
): Promise<void> {
  await lockForUpdate(tx, 'accounts', account.id)
  const { capacity, usage } = await capacityAndUsage(tx, account)
  checkCapacity(capacity, usage, isStaging)
}
