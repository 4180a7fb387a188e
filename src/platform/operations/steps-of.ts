import type { Tx } from '../db/database.ts'

/** Whether a step of an operation was not begun, or what it did was taken back; false while it stands, and when that could not be done. */
export async function wasUndone(tx: Tx, operationId: number, step: string): Promise<boolean> {
  const row = await tx
    .selectFrom('operation_steps')
    .select(['state', 'started_at'])
    .where('operation_id', '=', operationId)
    .where('name', '=', step)
    .executeTakeFirst()
  return row === undefined || row.started_at === null || row.state === 'undone'
}

/** Whether a step was done once, and said something that is not nothing. */
export async function hasResult(tx: Tx, operationId: number, step: string): Promise<boolean> {
  const row = await tx
    .selectFrom('operation_steps')
    .select('result')
    .where('operation_id', '=', operationId)
    .where('name', '=', step)
    .executeTakeFirst()
  return row?.result != null
}

/** Whether a step of an operation was ever begun, whatever became of it. */
export async function wasBegun(tx: Tx, operationId: number, step: string): Promise<boolean> {
  const row = await tx
    .selectFrom('operation_steps')
    .select('started_at')
    .where('operation_id', '=', operationId)
    .where('name', '=', step)
    .executeTakeFirst()
  return row?.started_at != null
}
