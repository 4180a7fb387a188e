import Type from 'typebox'
import type { Database, Tx } from '../db/database.ts'
import { durableWith, type StepContext } from './definition.ts'
import { ROUTINE } from './enqueue.ts'
import { BATCH, inBatches } from './in-batches.ts'
import { eachOverfull, firstBeyond, KEPT_AN_ACCOUNT, newestOnly } from './newest-only.ts'
import { schedule } from './schedule.ts'

const RETENTION_DAYS = 30

/**
 * Deletes operations that ended before a time, the oldest first.
 * @returns how many it deleted; call again until it is 0
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

/**
 * Deletes the surplus of an account with too many operations, the oldest ones that Stead itself requested.
 * @returns how many it deleted; call again until it is 0
 */
export async function forgetRoutine(tx: Tx, accountId: number, keep: number, most = BATCH): Promise<number> {
  const lastId = await firstBeyond(tx, 'operations', accountId, keep)
  if (lastId === undefined) return 0
  const ofAccount = tx.selectFrom('operations').select('id').where('account_id', '=', accountId)
  const tooMany = await ofAccount.where('id', '<=', lastId).limit(most).execute()
  const oldest = ofAccount
    .where('source', '=', JSON.stringify(ROUTINE))
    .where('finished_at', 'is not', null)
    .orderBy('id')
    .limit(tooMany.length)
  const { numDeletedRows } = await tx.deleteFrom('operations').where('id', 'in', oldest).executeTakeFirst()
  return Number(numDeletedRows)
}

type Context = Pick<StepContext<unknown, { readonly database: Database }>, 'services' | 'transaction' | 'signal'>

/** Keeps the newest operations of each account. It deletes routine ones before any that a person requested. */
export async function forgetTooMany(context: Context, keep = KEPT_AN_ACCOUNT): Promise<void> {
  const { services, signal } = context
  const routine = (accountId: number) => inBatches(context, (tx) => forgetRoutine(tx, accountId, keep))
  await eachOverfull(services.database, 'operations', keep, routine, signal)
  await newestOnly('operations', keep).run(context)
}

/**
 * Deletes operations that ended 30 days ago. Of an account's ended operations it keeps the newest 100,000, and deletes
 * routine ones first.
 */
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
    tooMany: { run: (context) => forgetTooMany(context) },
  },
})

/** Runs every night. */
export const forgetNightly = schedule({
  name: 'operations.forget',
  at: '03:40',
  definition: forgetOperations,
  input: () => ({}),
})

/**
 * Deletes the oldest ended operations of an account.
 * @returns how many it deleted; call again until it is 0
 */
export async function forgetEndedOf(tx: Tx, accountId: number, most: number): Promise<number> {
  const ended = tx
    .selectFrom('operations')
    .select('id')
    .where('account_id', '=', accountId)
    .where('finished_at', 'is not', null)
    .orderBy('id')
    .limit(most)
  const { numDeletedRows } = await tx.deleteFrom('operations').where('id', 'in', ended).executeTakeFirst()
  return Number(numDeletedRows)
}
