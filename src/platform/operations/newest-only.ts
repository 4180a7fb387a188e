import type { Database, Tx } from '../db/database.ts'
import type { Schema } from '../db/schema.ts'
import type { StepContext } from './definition.ts'
import { BATCH, inBatches } from './in-batches.ts'

/** What an account may keep of each kind of records, whatever their age: what a token writes without end pushes out its own oldest. */
export const KEPT_AN_ACCOUNT = 100_000

/** Tables of records that belong to accounts, with rising ids and an index on account and id. */
export type RecordTable = {
  [Table in keyof Schema]: Schema[Table] extends { id: unknown; account_id: unknown } ? Table : never
}[keyof Schema]

/** To Kysely, one table stands for all of them: each query would have its types once for every table. */
const asOne = (table: RecordTable) => table as 'operations'

/** The newest of those rows of an account that are too many. */
export async function firstBeyond(
  tx: Tx,
  table: RecordTable,
  accountId: number,
  keep: number,
): Promise<number | undefined> {
  const row = await tx
    .selectFrom(asOne(table))
    .select('id')
    .where('account_id', '=', accountId)
    .orderBy('id', 'desc')
    .offset(keep)
    .limit(1)
    .executeTakeFirst()
  return row?.id
}

/** @returns how many; call again until it is 0. Operations that have not ended stay */
export async function forgetUpTo(
  tx: Tx,
  table: RecordTable,
  accountId: number,
  lastId: number,
  most: number,
): Promise<number> {
  let old = tx.selectFrom(asOne(table)).select('id').where('account_id', '=', accountId).where('id', '<=', lastId)
  if (table === 'operations') old = old.where('finished_at', 'is not', null)
  const { numDeletedRows } = await tx
    .deleteFrom(asOne(table))
    .where('id', 'in', old.orderBy('id').limit(most))
    .executeTakeFirst()
  return Number(numDeletedRows)
}

/** The next account that has a row in a table. Each takes one look into its index. */
export async function nextAccount(tx: Tx, table: RecordTable, after: number): Promise<number | undefined> {
  const row = await tx
    .selectFrom(asOne(table))
    .select('account_id')
    .where('account_id', '>', after)
    .orderBy('account_id')
    .limit(1)
    .executeTakeFirst()
  return row?.account_id ?? undefined
}

/**
 * Goes through all accounts and hands those over that have more rows of a table than they may keep.
 * @param forget is given the newest id that has to go
 */
export async function eachOverfull(
  { read }: Database,
  table: RecordTable,
  keep: number,
  forget: (accountId: number, lastId: number) => Promise<unknown>,
  signal?: AbortSignal,
): Promise<void> {
  let accountId = await nextAccount(read, table, 0)
  while (accountId !== undefined) {
    signal?.throwIfAborted()
    const lastId = await firstBeyond(read, table, accountId, keep)
    if (lastId !== undefined) await forget(accountId, lastId)
    // SQLite's answers come without a turn of the event loop
    await new Promise((resolve) => setImmediate(resolve))
    accountId = await nextAccount(read, table, accountId)
  }
}

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
