import type { Database } from '../db/database.ts'
import { eachOverfull, forgetUpTo, type RecordTable } from '../db/newest-only.ts'
import type { StepContext } from './definition.ts'
import { BATCH, inBatches } from './in-batches.ts'

/** What an account may keep of each kind of records, whatever their age: what a token writes without end pushes out its own oldest. */
export const KEPT_AN_ACCOUNT = 100_000

/** A step that leaves of each account's rows the newest. */
export const newestOnly = (table: RecordTable, keep = KEPT_AN_ACCOUNT) => ({
  run(
    context: Pick<StepContext<unknown, { readonly database: Database }>, 'services' | 'transaction' | 'signal'>,
  ): Promise<void> {
    const forget = (accountId: number, lastId: number) =>
      inBatches(context, (tx) => forgetUpTo(tx, table, accountId, lastId, BATCH))
    return eachOverfull(context.services.database, table, keep, forget, context.signal)
  },
})
