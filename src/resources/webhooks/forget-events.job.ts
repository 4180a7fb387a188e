import Type from 'typebox'
import type { Database, Tx } from '../../platform/db/database.ts'
import { durableWith } from '../../platform/operations/definition.ts'
import { BATCH, inBatches } from '../../platform/operations/in-batches.ts'
import { newestOnly } from '../../platform/operations/newest-only.ts'
import { schedule } from '../../platform/operations/schedule.ts'
import { forgetEnded, forgetTestsBefore } from './delivery/delivery.store.ts'
import { KEPT_DELIVERIES } from './delivery/delivery-limits.ts'

/** Longer than any delivery is retried. */
const KEPT_MS = 30 * 86_400_000

/**
 * Deletes events from before a time, oldest first.
 * @returns how many it deleted. Call again until it is 0
 */
export async function forgetEventsBefore(tx: Tx, before: number, most: number): Promise<number> {
  const old = tx.selectFrom('events').select('id').where('created_at', '<', before).orderBy('created_at').limit(most)
  const { numDeletedRows } = await tx.deleteFrom('events').where('id', 'in', old).executeTakeFirst()
  return Number(numDeletedRows)
}

/**
 * Deletes events after 30 days, and all but the newest 100,000 of an account, with their deliveries. Keeps only the
 * newest deliveries of a webhook.
 */
export const forgetEvents = durableWith<{ readonly database: Database }>()({
  name: 'events.forget',
  input: Type.Object({}),
  on: 'control',
  changeableBy: 'account',
  steps: {
    old: { run: (context) => inBatches(context, (tx) => forgetEventsBefore(tx, context.now() - KEPT_MS, BATCH)) },
    tooMany: newestOnly('events'),
    deliveries: { run: forgetDeliveries },
  },
})

export const forgetEventsHourly = schedule({
  name: 'events.forget',
  everyMs: 3600_000,
  definition: forgetEvents,
  input: () => ({}),
})

async function forgetDeliveries(
  context: Parameters<typeof inBatches>[0] & { readonly services: { readonly database: Database }; now(): number },
): Promise<void> {
  await inBatches(context, (tx) => forgetTestsBefore(tx, context.now() - KEPT_MS, BATCH))
  const { read } = context.services.database
  for (const { id } of await read.selectFrom('webhooks').select('id').execute())
    await inBatches(context, (tx) => forgetEnded(tx, id, KEPT_DELIVERIES, BATCH))
}
