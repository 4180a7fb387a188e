import { announce, beforeCommit, lockForUpdate, type Tx } from '../../platform/db/database.ts'
import type { EarlierSet } from './difference.ts'
import { forgetChanges, rememberChange } from './earlier-sets.store.ts'

/* What name servers have to read again: zones by number, in the order of commits. No clock takes part. */

const seconds = (now: number): number => Math.floor(now / 1000)

/**
 * Name servers read the zone again; its serial rises (RFC 1982).
 * @param earlier what the sets that were changed were before: all that has changed. Without it secondaries are to have the zone as a whole
 */
export async function touchZone(tx: Tx, id: number, now: number, earlier?: readonly EarlierSet[]): Promise<void> {
  await tx.updateTable('zones').set({ updated_at: now }).where('id', '=', id).execute()
  await renewSerial(tx, id, now, earlier)
}

/** The same for a zone whose records, as its owner knows them, stay as they are. */
export async function renewSerial(tx: Tx, id: number, now: number, earlier?: readonly EarlierSet[]): Promise<void> {
  await lockForUpdate(tx, 'zones', id)
  const { serial: from, dnssec } = await tx
    .selectFrom('zones')
    .select(['serial', 'dnssec'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  const serial = Math.max(from + 1, seconds(now))
  await tx.updateTable('zones').set({ serial }).where('id', '=', id).execute()
  // signatures are made when they are asked for: nobody knows which ones a secondary has
  if (earlier && dnssec === 'off') await rememberChange(tx, id, { from, to: serial, earlier })
  else await forgetChanges(tx, id)
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
