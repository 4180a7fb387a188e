import { sql } from 'kysely'
import { announce, beforeCommit, type Tx } from '../platform/db/database.ts'

/* What name servers have to read again: zones by number, in the order of commits. No clock takes part. */

const seconds = (now: number): number => Math.floor(now / 1000)

/** Name servers read the zone again; its serial rises (RFC 1982). */
export async function touchZone(tx: Tx, id: number, now: number): Promise<void> {
  await tx.updateTable('zones').set({ updated_at: now }).where('id', '=', id).execute()
  await renewSerial(tx, id, now)
}

/** The same for a zone whose records, as its owner knows them, stay as they are. */
export async function renewSerial(tx: Tx, id: number, now: number): Promise<void> {
  const next = seconds(now)
  await tx
    .updateTable('zones')
    .set({ serial: sql<number>`case when serial >= ${next} then serial + 1 else ${next} end` })
    .where('id', '=', id)
    .execute()
  await beforeCommit(tx, numberChanges, [id])
  await announce(tx, 'zones')
}

/** By number, as `edge/route-changes.store.ts` does it. */
async function numberChanges(tx: Tx, ids: readonly (string | number)[]): Promise<void> {
  const { seq } = await tx
    .updateTable('zone_clock')
    .set((column) => ({ seq: column('seq', '+', ids.length) }))
    .where('id', '=', 1)
    .returning('seq')
    .executeTakeFirstOrThrow()
  for (const [at, id] of ids.entries())
    await tx
      .updateTable('zones')
      .set({ change_seq: seq - at })
      .where('id', '=', Number(id))
      .execute()
}
