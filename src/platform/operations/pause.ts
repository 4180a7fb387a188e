import { announce, type Tx } from '../db/database.ts'

/**
 * Pauses an operation, or lets it continue. Its definition must be `pausable`. An operation that is being undone changes
 * no more.
 * @param at milliseconds UTC, or null to continue
 * @returns whether this changed anything
 */
export async function setPaused(tx: Tx, operationId: number, at: number | null): Promise<boolean> {
  const changed = await tx
    .updateTable('operations')
    .set({ paused_at: at })
    .where('id', '=', operationId)
    .where('finished_at', 'is', null)
    .where('ending', 'is', null)
    .where('paused_at', at === null ? 'is not' : 'is', null)
    .returning('id')
    .execute()
  if (changed.length > 0) await announce(tx, 'operations')
  return changed.length > 0
}

export async function isPaused(tx: Tx, operationId: number): Promise<boolean> {
  const row = await tx.selectFrom('operations').select('paused_at').where('id', '=', operationId).executeTakeFirst()
  return row !== undefined && row.paused_at !== null
}
