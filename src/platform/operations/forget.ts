import Type from 'typebox'
import type { Tx } from '../db/database.ts'
import { durable } from './definition.ts'
import { BATCH, inBatches } from './in-batches.ts'
import { schedule } from './schedules.ts'

const RETENTION_DAYS = 30

/**
 * Deletes operations that ended before a time, the oldest first.
 * @returns how many; call again until it is 0
 */
export async function forgetEndedBefore(tx: Tx, time: number, most = BATCH): Promise<number> {
  const ended = tx
    .selectFrom('operations')
    .select('id')
    .where('finished_at', 'is not', null)
    .where('finished_at', '<', time)
    .orderBy('finished_at')
    .limit(most)
  const { numDeletedRows } = await tx.deleteFrom('operations').where('id', 'in', ended).executeTakeFirst()
  return Number(numDeletedRows)
}

/** Deletes operations that ended 30 days ago. */
export const forgetOperations = durable({
  name: 'operations.forget',
  input: Type.Object({}),
  on: 'control',
  steps: {
    delete: {
      run(context) {
        const time = context.now() - RETENTION_DAYS * 86_400_000
        return inBatches(context, (tx) => forgetEndedBefore(tx, time))
      },
    },
  },
})

/** Every night. */
export const forgetNightly = schedule({
  name: 'operations.forget',
  at: '03:40',
  definition: forgetOperations,
  input: () => ({}),
})
