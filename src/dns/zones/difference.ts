import type { OwnedSet } from '../owned-set.ts'
import { Type } from '../wire/protocol.ts'
import { longs, type RecordSet, type ZoneRecord } from '../wire/record-data.ts'
import { createZone, dataKey, ownerName, type ServedZone, type ZoneOptions } from './zone.ts'

/** The records of one name and type as they were stored before a change. Empty if the set did not exist. */
export interface EarlierSet {
  readonly name: string
  readonly type: string
  readonly records: readonly Omit<ZoneRecord, 'name' | 'type'>[]
}

/** The changes that update a secondary from an older version of a zone to this one (RFC 1995 §4). */
export interface Difference {
  readonly removed: readonly OwnedSet[]
  readonly added: readonly OwnedSet[]
}

/**
 * @param serial the serial of the older version
 * @param earlier the sets that changes since then have replaced, the oldest first
 */
export function differenceTo(
  zone: ServedZone,
  serial: number,
  earlier: readonly EarlierSet[],
  { nameservers }: Pick<ZoneOptions, 'nameservers'>,
): Difference {
  // The state of a set before all these changes is its state before the first change that includes it.
  const sets = new Map(earlier.toReversed().map((set) => [`${set.type} ${set.name}`, set]))
  const records = [...sets.values()].flatMap(({ name, type, records }) =>
    records.map((record) => ({ ...record, name, type })),
  )
  const before = createZone({ name: zone.name, serial, records }, { nameservers })
  const removed: OwnedSet[] = [{ owner: zone.name, set: soaOf(zone, serial) }]
  const added: OwnedSet[] = [{ owner: zone.name, set: zone.soa }]
  for (const { name, type } of sets.values()) {
    const owner = ownerName(name, zone.name)
    const number = Type[type as keyof typeof Type]
    const [was, is] = [before, zone].map(({ nodes }) => nodes.get(owner)?.get(number))
    removed.push(...without(owner, was, is))
    added.push(...without(owner, is, was))
  }
  return { removed, added }
}

/** Returns the records of a set that another one lacks. */
function without(owner: string, set: RecordSet | undefined, other: RecordSet | undefined): OwnedSet[] {
  if (!set) return []
  const there = new Set(set.ttl === other?.ttl ? other.data.map(dataKey) : [])
  const data = set.data.filter((each) => !there.has(dataKey(each)))
  return data.length === 0 ? [] : [{ owner, set: { ...set, data } }]
}

function soaOf({ soa }: ServedZone, serial: number): RecordSet {
  const [primary = '', mailbox = '', numbers] = soa.data[0] ?? []
  return { ...soa, data: [[primary, mailbox, Buffer.concat([longs(serial), (numbers as Buffer).subarray(4)])]] }
}
