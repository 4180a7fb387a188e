import { findAccount } from '../account/public.ts'
import type { Context } from '../kit/context.ts'

/** The author or editor, as notes show them. */
export async function authorName({ tx, caller }: Context): Promise<string> {
  return (await findAccount(tx, caller.accountId))?.name || caller.accountEmail
}
