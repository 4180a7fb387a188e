import type { Database, Tx } from './database.ts'

/** Tables of records that belong to accounts, newest last. */
export type RecordTable = 'activity' | 'events' | 'operations'

/** The newest of those rows of an account that are too many. */
export async function firstBeyond(
  tx: Tx,
  table: RecordTable,
  accountId: number,
  keep: number,
): Promise<number | undefined> {
  const row = await tx
    .selectFrom(table)
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
  let old = tx.selectFrom(table).select('id').where('account_id', '=', accountId).where('id', '<=', lastId)
  if (table === 'operations') old = old.where('finished_at' as never, 'is not', null)
  const { numDeletedRows } = await tx
    .deleteFrom(table)
    .where('id', 'in', old.orderBy('id').limit(most))
    .executeTakeFirst()
  return Number(numDeletedRows)
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
  for (let after = 0; ; ) {
    signal?.throwIfAborted()
    const accounts = await read
      .selectFrom('accounts')
      .select('id')
      .where('id', '>', after)
      .orderBy('id')
      .limit(100)
      .execute()
    for (const { id } of accounts) {
      const lastId = await firstBeyond(read, table, id, keep)
      if (lastId !== undefined) await forget(id, lastId)
      // SQLite's answers come without a turn of the event loop
      await new Promise((resolve) => setImmediate(resolve))
    }
    if (accounts.length === 0) return
    after = accounts.at(-1)?.id as number
  }
}
