import { announce, beforeCommit, lockForUpdate, type Tx } from '../../platform/db/database.ts'
import type { EarlierSet } from './difference.ts'
import { forgetChanges, rememberChange } from './earlier-sets.store.ts'

/* The zones that name servers must read again, by number in the order of commits. This depends on no clock. */

const seconds = (now: number): number => Math.floor(now / 1000)

/**
 * Makes name servers read the zone again, and increases its serial (RFC 1982).
 * @param earlier the previous sets of everything that changed. Without it, secondaries must transfer the whole zone.
 */
export async function touchZone(tx: Tx, id: number, now: number, earlier?: readonly EarlierSet[]): Promise<void> {
  await tx.updateTable('zones').set({ updated_at: now }).where('id', '=', id).execute()
  await renewSerial(tx, id, now, earlier)
}

/** Does the same for a zone whose records do not change from its owner's view. */
export async function renewSerial(tx: Tx, id: number, now: number, earlier?: readonly EarlierSet[]): Promise<void> {
  await lockForUpdate(tx, 'zones', id)
  const { serial: from, dnssec } = await tx
    .selectFrom('zones')
    .select(['serial', 'dnssec'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  const serial = Math.max(from + 1, seconds(now))
  await tx.updateTable('zones').set({ serial }).where('id', '=', id).execute()
  // Signatures are created on demand, so it is unknown which ones a secondary has.
  if (earlier && dnssec === 'off') await rememberChange(tx, id, { from, to: serial, earlier })
  else await forgetChanges(tx, id)
  await beforeCommit(tx, numberChanges, [id])
  await announce(tx, 'zones')
}

/** Numbers changes like `edge/route-changes.store.ts`. */
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
