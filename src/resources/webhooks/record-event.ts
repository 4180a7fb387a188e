import { randomBytes } from 'node:crypto'
import { announce, beforeCommit, type Tx } from '../../platform/db/database.ts'
import { precompiled, precompiledChange } from '../../platform/db/precompiled.ts'
import type { EventType } from './event.ts'

/** Adds an event in the transaction of the change, so that none is lost and none is invented. */
export async function recordEvent(
  tx: Tx,
  event: { type: EventType; accountId: number; siteId: number | null; data: object; now: number },
): Promise<void> {
  const { id } = await tx
    .insertInto('events')
    .values({
      account_id: event.accountId,
      site_id: event.siteId,
      type: event.type.name,
      data: JSON.stringify(event.data),
      created_at: event.now,
      mark: randomBytes(8).toString('hex'),
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  await beforeCommit(tx, giveNumbers, [id])
  await announce(tx, 'events')
}

/**
 * Numbers events. Transactions overlap, so ids become visible in any order, and a reader that continues after one would
 * miss events. These numbers are assigned at the very end of a transaction, one transaction after the other.
 */
async function giveNumbers(tx: Tx, ids: readonly (string | number)[]): Promise<void> {
  const [clock] = await advance(tx, { count: ids.length })
  const newest = (clock as { seq: number }).seq
  for (const [at, id] of ids.entries()) await number(tx, { id: id as number, seq: newest - ids.length + 1 + at })
}

const advance = precompiled((tx, { count }: { count: number }) =>
  tx
    .updateTable('event_clock')
    .set((column) => ({ seq: column('seq', '+', count) }))
    .where('id', '=', 1)
    .returning('seq'),
)

const number = precompiledChange((tx, { id, seq }: { id: number; seq: number }) =>
  tx.updateTable('events').set({ seq }).where('id', '=', id),
)
