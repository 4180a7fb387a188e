import type { Tx } from '../../platform/db/database.ts'
import type { EventType } from './event.ts'

/** Writes an event in the transaction of what happened, so that none is lost and none is invented. */
export async function recordEvent(
  tx: Tx,
  event: { type: EventType; accountId: number; siteId: number | null; data: object; now: number },
): Promise<void> {
  await tx
    .insertInto('events')
    .values({
      account_id: event.accountId,
      site_id: event.siteId,
      type: event.type.name,
      data: JSON.stringify(event.data),
      created_at: event.now,
    })
    .execute()
}
