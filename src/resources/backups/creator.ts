import { findAccount } from '../account/account.ts'
import type { Context } from '../kit/context.ts'

/** Name with address, as the API shows who asked for a backup. */
export async function creatorOf({ tx, caller }: Context): Promise<string> {
  const { accountId, accountEmail } = caller
  const name = (await findAccount(tx, accountId))?.name
  return name ? `${name} (${accountEmail})` : accountEmail
}
