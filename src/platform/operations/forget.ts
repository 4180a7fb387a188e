import Type from 'typebox'
import type { Database, Tx } from '../db/database.ts'
import { durableWith } from './definition.ts'
import { BATCH, inBatches } from './in-batches.ts'
import { newestOnly } from './newest-only.ts'
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

/** Deletes operations that ended 30 days ago, and of an account's ended ones all but the newest 100,000. */
export const forgetOperations = durableWith<{ readonly database: Database }>()({
  name: 'operations.forget',
  input: Type.Object({}),
  on: 'control',
  changeableBy: 'account',
  steps: {
    delete: {
      run(context) {
        const time = context.now() - RETENTION_DAYS * 86_400_000
        return inBatches(context, (tx) => forgetEndedBefore(tx, time))
      },
    },
    tooMany: newestOnly('operations'),
  },
})

/** Every night. */
export const forgetNightly = schedule({
  name: 'operations.forget',
  at: '03:40',
  definition: forgetOperations,
  input: () => ({}),
})
