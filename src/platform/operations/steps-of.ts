import type { Tx } from '../db/database.ts'

/**
 * Returns whether a step of an operation was not begun, or was undone. Returns false while its effect remains, even if
 * an undo has failed.
 */
export async function wasUndone(tx: Tx, operationId: number, step: string): Promise<boolean> {
  const row = await tx
    .selectFrom('operation_steps')
    .select(['state', 'started_at'])
    .where('operation_id', '=', operationId)
    .where('name', '=', step)
    .executeTakeFirst()
  return row === undefined || row.started_at === null || row.state === 'undone'
}

/** Returns whether a step was once done with a result other than null. */
export async function hasResult(tx: Tx, operationId: number, step: string): Promise<boolean> {
  return (await resultOfStep(tx, operationId, step)) !== undefined
}

/** Returns the last result of a step, or undefined if it has none. */
export async function resultOfStep(tx: Tx, operationId: number, step: string): Promise<unknown> {
  const row = await tx
    .selectFrom('operation_steps')
    .select('result')
    .where('operation_id', '=', operationId)
    .where('name', '=', step)
    .executeTakeFirst()
  return row?.result == null ? undefined : JSON.parse(row.result)
}

/** Returns whether a step of an operation was ever begun, whatever the outcome. */
export async function wasBegun(tx: Tx, operationId: number, step: string): Promise<boolean> {
  const row = await tx
    .selectFrom('operation_steps')
    .select('started_at')
    .where('operation_id', '=', operationId)
    .where('name', '=', step)
    .executeTakeFirst()
  return row?.started_at != null
}
