import type { Selectable } from 'kysely'
import { announce, type Tx } from '../../../platform/db/database.ts'
import { type RowsAsked, rowsOfPage } from '../../../platform/db/rows-of-page.ts'
import type { WebhookDeliveryRow } from '../tables.ts'
import type { Attempt, Delivery } from './delivery.ts'
import { isOpen } from './hand-out.store.ts'

const delivery = (row: Selectable<WebhookDeliveryRow>): Delivery => ({
  id: row.id,
  webhookId: row.webhook_id,
  eventId: row.event_id,
  siteId: row.site_id,
  messageId: row.message_id,
  type: row.type,
  line: row.line,
  state: row.state,
  dueAt: row.due_at,
  createdAt: row.created_at,
  finishedAt: row.finished_at,
})

/** Returns the deliveries of a webhook, newest first. */
export async function listDeliveries(tx: Tx, webhookId: number, page: RowsAsked): Promise<Delivery[]> {
  const query = tx
    .selectFrom('webhook_deliveries')
    .selectAll()
    .where('webhook_id', '=', webhookId)
    .orderBy('id', 'desc')
  const rows = await rowsOfPage(query, page, { column: 'id', order: 'desc' }).execute()
  return rows.map(delivery)
}

export async function countDeliveries(tx: Tx, webhookId: number): Promise<number> {
  const { count } = await tx
    .selectFrom('webhook_deliveries')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('webhook_id', '=', webhookId)
    .executeTakeFirstOrThrow()
  return Number(count)
}

export async function findDelivery(tx: Tx, webhookId: number, id: number): Promise<Delivery | undefined> {
  const row = await tx
    .selectFrom('webhook_deliveries')
    .selectAll()
    .where('id', '=', id)
    .where('webhook_id', '=', webhookId)
    .executeTakeFirst()
  return row && delivery(row)
}

/** Returns attempts by delivery, in order of number. */
export async function attemptsByDelivery(tx: Tx, deliveryIds: readonly number[]): Promise<Map<number, Attempt[]>> {
  const found = new Map<number, Attempt[]>(deliveryIds.map((id) => [id, []]))
  if (deliveryIds.length === 0) return found
  const rows = await tx
    .selectFrom('webhook_attempts')
    .selectAll()
    .where('delivery_id', 'in', [...deliveryIds])
    .orderBy('delivery_id')
    .orderBy('number')
    .execute()
  for (const row of rows)
    found.get(row.delivery_id)?.push({
      number: row.number,
      startedAt: row.started_at,
      durationMs: row.duration_ms,
      status: row.status,
      answer: row.answer,
      error: row.error,
    })
  return found
}

/** Adds a delivery that is sent at once, outside the lines. */
export async function insertAside(
  tx: Tx,
  values: Pick<Delivery, 'webhookId' | 'eventId' | 'siteId' | 'messageId' | 'type'> & { dueAt: number; now: number },
): Promise<Delivery> {
  const row = await tx
    .insertInto('webhook_deliveries')
    .values({
      webhook_id: values.webhookId,
      event_id: values.eventId,
      site_id: values.siteId,
      message_id: values.messageId,
      type: values.type,
      line: null,
      state: 'pending',
      due_at: values.dueAt,
      created_at: values.now,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  await announce(tx, 'events')
  return delivery(row)
}

/** Counts unfinished deliveries outside the lines. */
export async function countAside(tx: Tx, webhookId: number): Promise<number> {
  const { count } = await tx
    .selectFrom('webhook_deliveries')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('webhook_id', '=', webhookId)
    .where('line', 'is', null)
    .where('due_at', 'is not', null)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Makes the next attempt due now. An attempt in progress remains the only one. */
export async function hurry(tx: Tx, id: number, dueAt: number): Promise<void> {
  await tx.updateTable('webhook_deliveries').set({ state: 'pending', due_at: dueAt }).where('id', '=', id).execute()
  await announce(tx, 'events')
}

/** Gives up everything that has not arrived, except what was sent by hand. */
export async function giveUpAll(tx: Tx, webhookId: number, now: number): Promise<void> {
  await tx
    .updateTable('webhook_deliveries')
    .set({ state: 'failed', due_at: null, lease_owner: null, lease_until: null, finished_at: now })
    .where('webhook_id', '=', webhookId)
    .where('line', 'is not', null)
    .where(isOpen)
    .execute()
}

/**
 * Deletes ended deliveries of a webhook, except the newest.
 * @returns how many it deleted. Call again until it is 0
 */
export async function forgetEnded(tx: Tx, webhookId: number, keep: number, most: number): Promise<number> {
  const ended = () =>
    tx
      .selectFrom('webhook_deliveries')
      .select('id')
      .where('webhook_id', '=', webhookId)
      .where('state', 'in', ['delivered', 'failed'])
  const beyond = await ended().orderBy('id', 'desc').offset(keep).limit(1).executeTakeFirst()
  if (!beyond) return 0
  const old = ended().where('id', '<=', beyond.id).orderBy('id').limit(most)
  const { numDeletedRows } = await tx.deleteFrom('webhook_deliveries').where('id', 'in', old).executeTakeFirst()
  return Number(numDeletedRows)
}

/** Deletes old tests in the same way, because they are not deleted with an event. */
export async function forgetTestsBefore(tx: Tx, before: number, most: number): Promise<number> {
  const old = tx
    .selectFrom('webhook_deliveries')
    .select('id')
    .where('event_id', 'is', null)
    .where('created_at', '<', before)
    .limit(most)
  const { numDeletedRows } = await tx.deleteFrom('webhook_deliveries').where('id', 'in', old).executeTakeFirst()
  return Number(numDeletedRows)
}
