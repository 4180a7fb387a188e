import { sql } from 'kysely'
import { vi } from 'vitest'
import { type Database, lockForUpdate, type Tx } from '../../src/platform/db/database.ts'

/**
 * Starts work during another transaction, and ends that transaction when all of the work waits for it. On SQLite, where
 * transactions run one by one, it runs afterwards.
 * @param first the transaction; it is not committed before the others wait
 * @param others each must wait for something that `first` has locked
 */
export async function whileUnderWay<Result>(
  { dialect, read, transaction }: Database,
  first: (tx: Tx) => Promise<unknown>,
  others: readonly (() => Promise<Result>)[],
): Promise<Result[]> {
  const begun = Promise.withResolvers<void>()
  const seen = Promise.withResolvers<void>()
  const underWay = transaction(async (tx) => {
    await first(tx)
    begun.resolve()
    if (dialect === 'postgres') await seen.promise
  })
  await Promise.race([begun.promise, underWay])
  const results = Promise.all(others.map((each) => each()))
  const waiting = sql<{ count: number }>`select count(*)::int as count from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`
  try {
    if (dialect === 'postgres')
      await Promise.race([
        results,
        vi.waitFor(async () => {
          const { rows } = await waiting.execute(read)
          if ((rows[0]?.count ?? 0) < others.length) throw new Error('not all of them wait')
        }, 20_000),
      ])
  } finally {
    seen.resolve()
    await underWay
  }
  return results
}

/** A transaction that locks a site, and changes nothing. */
export const holding = (siteId: number) => (tx: Tx) => lockForUpdate(tx, 'sites', siteId)
