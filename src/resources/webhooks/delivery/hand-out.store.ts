import { type SqlBool, sql } from 'kysely'
import { type Database, isPostgres, type Tx } from '../../../platform/db/database.ts'
import { databaseNow } from '../../../platform/operations/worker/lease.ts'
import { type EventView, readEvents } from '../event.store.ts'
import { holdEnabledOf, newestSeq } from '../webhook.store.ts'
import type { Webhook } from '../webhook.ts'

/** Events per transaction. */
const AT_ONCE = 200
/** Rows per statement. */
const ROWS = 500

/**
 * Creates the deliveries of new events for each webhook, once for each event, even after a crash.
 * @returns whether there may be more
 */
export async function handOut(database: Database): Promise<boolean> {
  // If there is nothing to do, it must not write: a commit would wake all listeners.
  if ((await handedOut(database.read)) >= (await newestSeq(database.read))) return false
  return database.transaction(async (tx) => {
    const after = await holdHandedOut(tx)
    const events = await readEvents(tx, { after, limit: AT_ONCE })
    const last = events.at(-1)
    if (!last) return false
    const webhooks = await holdEnabledOf(tx, [...new Set(events.map(({ accountId }) => accountId))])
    for (const webhook of webhooks)
      await queue(
        tx,
        webhook,
        events.filter((event) => event.seq > webhook.fromSeq && isFor(webhook, event)),
      )
    await tx.updateTable('event_clock').set({ seq: last.seq }).where('id', '=', 2).execute()
    return events.length === AT_ONCE
  })
}

async function handedOut(tx: Tx): Promise<number> {
  const { seq } = await tx.selectFrom('event_clock').select('seq').where('id', '=', 2).executeTakeFirstOrThrow()
  return seq
}

/** Holds the position, so that no other process creates deliveries until the transaction ends. */
async function holdHandedOut(tx: Tx): Promise<number> {
  const query = tx.selectFrom('event_clock').select('seq').where('id', '=', 2)
  const { seq } = await (isPostgres(tx) ? query.forUpdate() : query).executeTakeFirstOrThrow()
  return seq
}

const isFor = ({ accountId, eventTypes, siteIds }: Webhook, event: EventView): boolean =>
  accountId === event.accountId &&
  (!eventTypes || eventTypes.includes(event.type)) &&
  (!siteIds || (event.siteId !== null && siteIds.includes(event.siteId)))

/** Literals instead of parameters. Otherwise, SQLite does not see that the index of open deliveries covers them. */
export const isOpen = sql<SqlBool>`state in ('pending', 'waiting')`

const lineOf = ({ siteId }: EventView): number => siteId ?? 0

/** Queues deliveries. The first of a line is due, and those behind it wait for its end. Hold the webhook. */
async function queue(tx: Tx, { id }: Webhook, events: readonly EventView[]): Promise<void> {
  if (events.length === 0) return
  const taken = await tx
    .selectFrom('webhook_deliveries')
    .select('line')
    .distinct()
    .where('webhook_id', '=', id)
    .where('line', 'in', [...new Set(events.map(lineOf))])
    .where(isOpen)
    .execute()
  const lines = new Set(taken.map(({ line }) => line))
  const rows = events.map((event) => {
    const isFirst = !lines.has(lineOf(event))
    lines.add(lineOf(event))
    return {
      webhook_id: id,
      event_id: event.rowId,
      site_id: event.siteId,
      message_id: event.id,
      type: event.type,
      line: lineOf(event),
      state: isFirst ? ('pending' as const) : ('waiting' as const),
      due_at: isFirst ? databaseNow(tx) : null,
      created_at: databaseNow(tx),
    }
  })
  for (let from = 0; from < rows.length; from += ROWS)
    await tx
      .insertInto('webhook_deliveries')
      .values(rows.slice(from, from + ROWS))
      .execute()
}

/** Selects the first of a line. */
export const firstOfLine = (tx: Tx, webhookId: number, line: number) =>
  tx
    .selectFrom('webhook_deliveries')
    .select('id')
    .where('webhook_id', '=', webhookId)
    .where('line', '=', line)
    .where(isOpen)
    .orderBy('id')
    .limit(1)

/** Makes the next of a line due after its first has ended. Hold the webhook. */
export async function moveUp(tx: Tx, webhookId: number, line: number): Promise<void> {
  await tx
    .updateTable('webhook_deliveries')
    .set({ state: 'pending', due_at: databaseNow(tx) })
    .where('id', 'in', firstOfLine(tx, webhookId, line))
    .where('state', '=', 'waiting')
    .execute()
}
