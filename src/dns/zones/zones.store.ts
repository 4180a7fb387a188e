import { sql } from 'kysely'
import type { Sealer } from '../../platform/crypto/seal.ts'
import { announce, type Database, type Tx } from '../../platform/db/database.ts'
import { type KeyState, type ZoneKey, zoneKey } from '../signing/signing-key.ts'
import type { EarlierSet } from './difference.ts'
import type { ZoneData } from './zone.ts'
import { recordsWithProofs } from './zone-records.store.ts'

/** A zone that has changed, or is gone. */
export interface ChangedZone {
  readonly id: number
  readonly changeSeq: number
  readonly name: string
  /** Undefined if it was deleted. */
  readonly data: ZoneData | undefined
}

/** The number of zones that are read at a time, to limit how many are in memory twice. */
const AT_A_TIME = 200

/** The position in the changes of zones. */
export interface Position {
  /** The number of the newest change. */
  readonly seq: number
  /** With another generation, nothing that is known is valid: the zones were renewed. */
  readonly generation: number
}

export async function newestChange(tx: Tx): Promise<Position> {
  return tx.selectFrom('zone_clock').select(['seq', 'generation']).where('id', '=', 1).executeTakeFirstOrThrow()
}

/** The inputs of all zones besides their records. */
export interface Renewal {
  /** Identifies the settings that affect zones. */
  readonly madeWith: string
  readonly now: number
  /** Whether the database is an older copy. */
  readonly isDue?: boolean
}

/**
 * Makes secondaries transfer all zones completely, with serials above all earlier ones, if the zones were last created
 * with other settings. No change announces those. Does the same after an older copy of the database was restored,
 * because secondaries may know later versions.
 */
export async function renewZones(tx: Tx, { madeWith, now, isDue = false }: Renewal): Promise<void> {
  const clock = await tx
    .selectFrom('zone_clock')
    .select(['seq', 'made_with as before'])
    .where('id', '=', 1)
    .executeTakeFirstOrThrow()
  if (clock.before === madeWith && !isDue) return
  const held = tx.updateTable('zone_clock').set({ made_with: madeWith }).where('id', '=', 1)
  await held.execute()
  // From before this was recorded.
  if (clock.before === null && !isDue) return
  const seconds = Math.floor(now / 1000)
  // Numbers increase like serials. They stay distinct, because ids are.
  const base = Math.max(clock.seq, seconds)
  await tx.deleteFrom('zone_changes').execute()
  await tx
    .updateTable('zones')
    .set({
      serial: sql<number>`case when serial >= ${seconds} then serial + 1 else ${seconds} end`,
      change_seq: sql<number>`id + ${base}`,
    })
    .execute()
  const { last } = await tx
    .selectFrom('zones')
    .select(({ fn }) => fn.max('id').as('last'))
    .executeTakeFirstOrThrow()
  await tx
    .updateTable('zone_clock')
    .set((row) => ({ seq: base + Number(last ?? 0) + 1, generation: row('generation', '+', 1) }))
    .where('id', '=', 1)
    .execute()
  await announce(tx, 'zones')
}

/** Records that the database was restored from a backup, so that zones are renewed when name servers start. */
export async function forgetServed(tx: Tx): Promise<void> {
  await tx.updateTable('zone_clock').set({ made_with: '' }).execute()
}

/**
 * Returns the sets that changes of a zone have replaced between two serials, the oldest first. Returns undefined when
 * some of them are unknown.
 */
export async function readEarlier(
  tx: Tx,
  zone: string,
  from: number,
  to: number,
): Promise<readonly EarlierSet[] | undefined> {
  const changes = await tx
    .selectFrom('zone_changes')
    .innerJoin('zones', 'zones.id', 'zone_changes.zone_id')
    .select(['from_serial', 'to_serial', 'earlier'])
    .where('zones.name', '=', zone)
    .where('zones.deleted_at', 'is', null)
    .where('from_serial', '>=', from)
    .where('to_serial', '<=', to)
    .orderBy('from_serial')
    .execute()
  let at = from
  for (const change of changes) {
    if (change.from_serial !== at) return undefined
    at = change.to_serial
  }
  return at === to && from !== to ? changes.flatMap(({ earlier }) => JSON.parse(earlier) as EarlierSet[]) : undefined
}

/** Calls back with everything that changed after a number, in the order of commits and from one snapshot. */
export async function readChangedZones(
  database: Database,
  seq: number,
  take: (zone: ChangedZone) => void,
  sealer: Pick<Sealer, 'open'>,
): Promise<void> {
  await database.atOneMoment(async (tx) => {
    let after = seq
    for (;;) {
      const zones = await tx
        .selectFrom('zones')
        .select(['id', 'name', 'serial', 'change_seq', 'deleted_at', 'dnssec'])
        .where('change_seq', '>', after)
        .orderBy('change_seq')
        .limit(AT_A_TIME)
        .execute()
      if (zones.length === 0) return
      const there = zones.filter((zone) => zone.deleted_at === null)
      const found = await recordsWithProofs(
        tx,
        there.map(({ id }) => id),
      )
      const records = Map.groupBy(found, ({ zone_id }) => zone_id)
      const keys = await keysOf(
        tx,
        there.filter(({ dnssec }) => dnssec !== 'off').map(({ id }) => id),
      )
      for (const { id, name, serial, change_seq, deleted_at, dnssec } of zones) {
        const openKeys = () => (keys.get(id) ?? []).map((key) => opened(key, sealer))
        const signing = { openKeys, isLeaving: dnssec === 'leaving' }
        const data =
          deleted_at === null ? { name, serial: Number(serial), records: records.get(id) ?? [], ...signing } : undefined
        take({ id, changeSeq: Number(change_seq), name, data })
        after = Number(change_seq)
      }
    }
  })
}

/** The purpose under which private keys of zones are sealed. */
export const ZONE_KEY_PURPOSE = 'key of a zone'

async function keysOf(tx: Tx, zoneIds: readonly number[]) {
  if (zoneIds.length === 0) return new Map<number, SealedKey[]>()
  const rows = await tx
    .selectFrom('zone_keys')
    .select(['zone_id', 'state', 'private_key'])
    .where('zone_id', 'in', zoneIds)
    .orderBy('id')
    .execute()
  return Map.groupBy(rows, ({ zone_id }) => zone_id)
}

interface SealedKey {
  readonly state: KeyState
  readonly private_key: string
}

const opened = ({ private_key, state }: SealedKey, sealer: Pick<Sealer, 'open'>): ZoneKey =>
  zoneKey(sealer.open(private_key, ZONE_KEY_PURPOSE), state)
