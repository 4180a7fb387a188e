import type { Tx } from '../../platform/db/database.ts'
import type { EarlierSet } from './difference.ts'
import { recordsWithProofs } from './zone-records.store.ts'

/** The limits for the stored changes of a zone. A secondary that has missed more gets the whole zone. */
export const MOST_CHANGES = 100
export const MOST_CHANGE_BYTES = 65_536

/** Returns the current sets of a zone's records, including empty ones, each once. */
export async function setsOf(
  tx: Tx,
  zoneId: number,
  wanted: readonly Pick<EarlierSet, 'name' | 'type'>[],
): Promise<EarlierSet[]> {
  const sets = new Map(wanted.map(({ name, type }) => [`${type} ${name}`, { name, type }]))
  if (sets.size === 0) return []
  const there = await recordsWithProofs(tx, [zoneId], new Set(wanted.map(({ name }) => name)))
  const records = Map.groupBy(there, ({ name, type }) => `${type} ${name}`)
  return [...sets].map(([key, set]) => ({
    ...set,
    records: (records.get(key) ?? []).map(({ value, priority, weight, port, ttl }) => ({
      value,
      priority,
      weight,
      port,
      ttl,
    })),
  }))
}

interface Change {
  readonly from: number
  readonly to: number
  readonly earlier: readonly EarlierSet[]
}

/**
 * Stores a change of a zone, and drops the oldest ones above the limit. A change that is too large itself leaves none.
 */
export async function rememberChange(tx: Tx, zoneId: number, { from, to, earlier }: Change): Promise<void> {
  const text = JSON.stringify(earlier)
  const bytes = Buffer.byteLength(text)
  await tx
    .insertInto('zone_changes')
    .values({ zone_id: zoneId, from_serial: from, to_serial: to, earlier: text, bytes })
    .execute()
  const kept = await tx
    .selectFrom('zone_changes')
    .select(['from_serial as from', 'bytes'])
    .where('zone_id', '=', zoneId)
    .orderBy('from_serial', 'desc')
    .execute()
  let sum = 0
  const tooOld = kept.find((change, at) => {
    sum += change.bytes
    return at >= MOST_CHANGES || sum > MOST_CHANGE_BYTES
  })
  if (!tooOld) return
  const old = tx.deleteFrom('zone_changes').where('zone_id', '=', zoneId).where('from_serial', '<=', tooOld.from)
  await old.execute()
}

export async function forgetChanges(tx: Tx, zoneId: number): Promise<void> {
  await tx.deleteFrom('zone_changes').where('zone_id', '=', zoneId).execute()
}
