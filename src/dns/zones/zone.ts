import { ZoneSigner } from '../signing/signer.ts'
import type { ZoneKey } from '../signing/signing-key.ts'
import { dnsName, isWithin, parentName } from '../wire/name.ts'
import { Type } from '../wire/protocol.ts'
import { longs, type RecordSet, readRecordData, usableTtl, type ZoneRecord } from '../wire/record-data.ts'

/** All records of one name. Empty if only names below it have some (RFC 4592 §2.2.2). */
export type Node = ReadonlyMap<number, RecordSet>

/** A zone in the form for answers. It is never changed, only replaced. */
export interface ServedZone {
  readonly name: string
  readonly serial: number
  readonly nodes: ReadonlyMap<string, Node>
  readonly soa: RecordSet
  /** The same with the TTL of negative answers (RFC 2308 §5). */
  readonly negativeSoa: RecordSet
  /** Whether the zone has delegations. Most zones have none, and skip the search. */
  readonly hasCuts: boolean
  /** Set for a signed zone. */
  readonly signer: ZoneSigner | undefined
}

export interface ZoneData {
  readonly name: string
  readonly serial: number
  readonly records: readonly ZoneRecord[]
  /**
   * Returns the keys. Without any, or an active one, the zone is not signed. Throws when they cannot be read: an older
   * zone is better than one without its signatures.
   */
  readonly openKeys?: () => readonly ZoneKey[]
  /** Whether the zone above should delete the keys. */
  readonly isLeaving?: boolean
}

export interface ZoneOptions {
  /** Host names of the name servers for every zone that lists none. */
  readonly nameservers: readonly string[]
  /** Called for a record that cannot be served, and is left out. */
  readonly onFault?: (zone: string, record: ZoneRecord, error: unknown) => void
}

/** Secondaries are notified. Refresh and retry are for those that missed a notification. */
export const timers = { refresh: 14_400, retry: 3600, expire: 1_209_600, minimum: 300 } as const
const APEX_TTL = 3600

/**
 * Creates a zone from its stored data.
 * @throws RangeError when its own name is invalid
 */
export function createZone(data: ZoneData, options: ZoneOptions): ServedZone {
  const { name: given, serial, records, isLeaving = false } = data
  const keys = data.openKeys?.() ?? []
  const name = dnsName(given)
  const drafts = new Map<string, Map<number, Draft>>()
  for (const record of records)
    try {
      addRecord(drafts, ownerName(record.name, name), record)
    } catch (error) {
      options.onFault?.(name, record, error)
    }
  const nodes = new Map<string, Map<number, RecordSet>>()
  for (const [owner, sets] of drafts)
    nodes.set(owner, new Map([...sets].map(([type, draft]) => [type, finished(draft)])))
  addEmptyNames(nodes, name)
  const apex = nodes.get(name) as Map<number, RecordSet>
  if (!apex.has(Type.NS)) apex.set(Type.NS, nameserverSet(options.nameservers))
  const soa = soaSet(name, serial, options.nameservers[0] as string)
  apex.set(Type.SOA, soa)
  const signer = keys.some(({ state }) => state === 'active') ? new ZoneSigner(name, keys) : undefined
  for (const set of signer?.keySets(isLeaving) ?? []) apex.set(set.type, set)
  return {
    name,
    serial,
    nodes,
    soa,
    negativeSoa: { ...soa, ttl: Math.min(soa.ttl, timers.minimum) },
    hasCuts: [...nodes].some(([owner, sets]) => owner !== name && sets.has(Type.NS)),
    signer,
  }
}

interface Draft {
  readonly type: number
  ttl: number
  readonly data: Map<string, RecordSet['data'][number]>
  readonly targets: Set<string>
}

/** @throws RangeError when it is not a name in the zone */
export function ownerName(relative: string, zone: string): string {
  const owner = dnsName(relative === '' || relative === '@' ? zone : `${relative}.${zone}`)
  if (!isWithin(owner, zone)) throw new RangeError(`not in the zone: ${owner}`)
  return owner
}

function addRecord(drafts: Map<string, Map<number, Draft>>, owner: string, record: ZoneRecord): void {
  const { type, data, target } = readRecordData(record)
  const ttl = usableTtl(record.ttl)
  const node = drafts.get(owner) ?? new Map<number, Draft>()
  drafts.set(owner, node)
  const draft: Draft = node.get(type) ?? { type, ttl, data: new Map(), targets: new Set() }
  node.set(type, draft)
  // RFC 2181 §5.2: a set has one TTL.
  draft.ttl = Math.min(draft.ttl, ttl)
  draft.data.set(dataKey(data), data)
  if (target !== undefined) draft.targets.add(target)
}

/** Returns a key for data. Equal keys mean equal data of records of one type. */
export const dataKey = (data: RecordSet['data'][number]): string =>
  data.map((part) => (typeof part === 'string' ? part : part.toString('latin1'))).join('\0')

const finished = ({ type, ttl, data, targets }: Draft): RecordSet => ({
  type,
  ttl,
  data: [...data.values()],
  targets: [...targets],
})

/** Adds names that exist because there are names below them, and the apex. */
function addEmptyNames(nodes: Map<string, Map<number, RecordSet>>, zone: string): void {
  for (const owner of [...nodes.keys()])
    for (let name = owner; name !== zone; ) {
      name = parentName(name)
      if (nodes.has(name)) break
      nodes.set(name, new Map())
    }
  if (!nodes.has(zone)) nodes.set(zone, new Map())
}

const nameserverSet = (nameservers: readonly string[]): RecordSet => ({
  type: Type.NS,
  ttl: APEX_TTL,
  data: nameservers.map((nameserver) => [nameserver]),
  targets: nameservers,
})

export function soaSet(zone: string, serial: number, primary: string): RecordSet {
  const { refresh, retry, expire, minimum } = timers
  const mailbox = zone === '' ? 'hostmaster' : `hostmaster.${zone}`
  const numbers = longs(serial, refresh, retry, expire, minimum)
  return { type: Type.SOA, ttl: APEX_TTL, data: [[primary, mailbox, numbers]], targets: [] }
}
