import { findAccount } from '../account/public.ts'
import type { Context } from '../kit/context.ts'

/** Returns the name and address that the API shows as the requester of a backup. */
export async function creatorOf({ tx, caller }: Context): Promise<string> {
  const { accountId, accountEmail } = caller
  const name = (await findAccount(tx, accountId))?.name
  return name ? `${name} (${accountEmail})` : accountEmail
}
