import type { Sealer } from '../platform/crypto/seal.ts'
import type { Database, Tx } from '../platform/db/database.ts'
import { challengesOf } from './challenges.store.ts'
import { type KeyState, type ZoneKey, zoneKey } from './signing/key.ts'
import type { ZoneData } from './zone.ts'

/** A zone that has changed, or is gone. */
export interface ChangedZone {
  readonly id: number
  readonly changeSeq: number
  readonly name: string
  /** None: it was deleted. */
  readonly data: ZoneData | undefined
}

/** Zones read at a time: bounds what is in memory twice. */
const AT_A_TIME = 200

/** The number of the newest change of zones. */
export async function newestChange(tx: Tx): Promise<number> {
  const { seq } = await tx.selectFrom('zone_clock').select('seq').where('id', '=', 1).executeTakeFirstOrThrow()
  return Number(seq)
}

/** Calls back with all that was changed after a number, in the order of commits and as it was at one moment. */
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
      const records = await recordsOf(
        tx,
        there.map(({ id }) => id),
      )
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

async function recordsOf(tx: Tx, zoneIds: readonly number[]) {
  if (zoneIds.length === 0) return new Map<number, ZoneData['records'][number][]>()
  const rows = await tx
    .selectFrom('dns_records')
    .select(['zone_id', 'type', 'name', 'value', 'priority', 'weight', 'port', 'ttl'])
    .where('zone_id', 'in', zoneIds)
    .orderBy('id')
    .execute()
  return Map.groupBy([...rows, ...(await challengesOf(tx, zoneIds))], ({ zone_id }) => zone_id)
}

/** What private keys of zones are sealed for. */
export const KEY_PURPOSE = 'key of a zone'

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
  zoneKey(sealer.open(private_key, KEY_PURPOSE), state)
