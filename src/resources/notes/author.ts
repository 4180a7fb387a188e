import { findAccount } from '../account/account.ts'
import type { Context } from '../kit/context.ts'

/** Who writes or edits, as notes show it. */
export async function authorName({ tx, caller }: Context): Promise<string> {
  return (await findAccount(tx, caller.accountId))?.name || caller.accountEmail
}
