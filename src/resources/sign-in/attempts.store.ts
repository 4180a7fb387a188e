import { isPostgres, type Tx } from '../../platform/db/database.ts'

/**
 * Returns the count and the time of the last attempt for each key that has any. No other transaction counts them before
 * this one ends.
 */
export async function holdAttempts(
  tx: Tx,
  keys: readonly string[],
): Promise<Map<string, { count: number; lastAt: number }>> {
  // In a fixed order, so that two transactions never wait for each other.
  const ordered = [...keys].sort()
  await tx
    .insertInto('sign_in_attempts')
    .values(ordered.map((key) => ({ key, count: 0, last_at: 0 })))
    .onConflict((conflict) => conflict.column('key').doNothing())
    .execute()
  const query = tx.selectFrom('sign_in_attempts').selectAll().where('key', 'in', ordered).orderBy('key')
  const rows = await (isPostgres(tx) ? query.forUpdate() : query).execute()
  return new Map(rows.map(({ key, count, last_at }) => [key, { count, lastAt: last_at }]))
}

export async function setAttempts(tx: Tx, key: string, { count, now }: { count: number; now: number }): Promise<void> {
  await tx.updateTable('sign_in_attempts').set({ count, last_at: now }).where('key', '=', key).execute()
}

export async function forgetAttempts(tx: Tx, keys: readonly string[]): Promise<void> {
  await tx.deleteFrom('sign_in_attempts').where('key', 'in', keys).execute()
}

/**
 * Deletes old attempts.
 * @returns how many it deleted. Call again until it is 0
 */
export async function forgetOldAttempts(tx: Tx, before: number, most: number): Promise<number> {
  const old = tx.selectFrom('sign_in_attempts').select('key').where('last_at', '<', before).limit(most)
  const { numDeletedRows } = await tx.deleteFrom('sign_in_attempts').where('key', 'in', old).executeTakeFirst()
  return Number(numDeletedRows)
}
