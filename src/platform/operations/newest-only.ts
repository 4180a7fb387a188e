import type { Database, Tx } from '../db/database.ts'
import type { Schema } from '../db/schema.ts'
import type { StepContext } from './definition.ts'
import { BATCH, inBatches } from './in-batches.ts'

/**
 * How many records of each kind an account may keep, whatever their age. A token that writes endlessly displaces its
 * own oldest records.
 */
export const KEPT_AN_ACCOUNT = 100_000

/** Tables of records that belong to accounts, with increasing ids and an index on account and id. */
export type RecordTable = {
  [Table in keyof Schema]: Schema[Table] extends { id: unknown; account_id: unknown } ? Table : never
}[keyof Schema]

/** Presents all tables to Kysely as one. Otherwise each query would have its types once for every table. */
const asOne = (table: RecordTable) => table as 'operations'

/** Returns the newest of an account's surplus rows. */
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

/**
 * Deletes rows up to an id. Operations that have not ended stay.
 * @returns how many it deleted; call again until it is 0
 */
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

/** Returns the next account that has a row in a table. Each call takes one lookup in its index. */
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
 * Goes through all accounts and calls `forget` for those that have more rows of a table than they may keep.
 * @param forget receives the newest id to delete
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
    // SQLite answers without a turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve))
    accountId = await nextAccount(read, table, accountId)
  }
}

/** A step that keeps only the newest rows of each account. */
export const newestOnly = (table: RecordTable, keep = KEPT_AN_ACCOUNT) => ({
  run(
    context: Pick<StepContext<unknown, { readonly database: Database }>, 'services' | 'transaction' | 'signal'>,
  ): Promise<void> {
    const forget = (accountId: number, lastId: number) =>
      inBatches(context, (tx) => forgetUpTo(tx, table, accountId, lastId, BATCH))
    return eachOverfull(context.services.database, table, keep, forget, context.signal)
  },
})
