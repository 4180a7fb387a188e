import { lockForUpdate, type Tx } from '../../../platform/db/database.ts'
import { Problem } from '../../../platform/http/problem.ts'
import { type Account, capacityAndUsage, findRemoval, problems } from '../../account/public.ts'
import { checkCapacity } from './placement.ts'

/**
 * Counts one more site of one kind against the plan. PostgreSQL overlaps transactions, so this serializes them for each
 * account. Call it last, so that others wait only for a count and a commit.
 * @throws Problem `site_limit_reached` when the plan does not allow the site, which is itself counted; `account_leaving`
 * when the account is being removed
 */
export async function countAgainstPlan(
  tx: Tx,
  account: Pick<Account, 'id' | 'plan'>,
  isStaging: boolean,
): Promise<void> {
  await lockForUpdate(tx, 'accounts', account.id)
  if (await findRemoval(tx, account.id)) throw new Problem(problems.account_leaving, {})
  const { capacity, usage } = await capacityAndUsage(tx, account)
  checkCapacity(capacity, usage, isStaging)
}
