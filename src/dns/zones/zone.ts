import type { ZoneKey } from '../signing/key.ts'
import { ZoneSigner } from '../signing/signer.ts'
import { isWithin, nameOf, parentOf } from '../wire/name.ts'
import { Type } from '../wire/protocol.ts'
import { longs, type RecordSet, readRecord, usableTtl, type ZoneRecord } from '../wire/record-data.ts'

/** All records of one name; none: names below it have some (RFC 4592 §2.2.2). */
export type Node = ReadonlyMap<number, RecordSet>

/** A zone as it is answered from; never changed, only replaced. */
export interface Zone {
  readonly name: string
  readonly serial: number
  readonly nodes: ReadonlyMap<string, Node>
  readonly soa: RecordSet
  /** The same with the time for which "there is none" may be kept (RFC 2308 §5). */
  readonly negativeSoa: RecordSet
  /** Whether anything is delegated: what most zones need not look for. */
  readonly hasCuts: boolean
  /** Of a signed zone. */
  readonly signer: ZoneSigner | undefined
}

export interface ZoneData {
  readonly name: string
  readonly serial: number
  readonly records: readonly ZoneRecord[]
  /** None, or none that is active: it is not signed. Throws when they cannot be read: better an older zone than one without its signatures. */
  readonly openKeys?: () => readonly ZoneKey[]
  /** The zone above is to forget the keys. */
  readonly isLeaving?: boolean
}

export interface ZoneOptions {
  /** Host names of the name servers of every zone that names none itself. */
  readonly nameservers: readonly string[]
  /** A record that cannot be served is left out. */
  readonly onFault?: (zone: string, record: ZoneRecord, error: unknown) => void
}

/** Secondaries are notified; refresh and retry are for those that a notice did not reach. */
export const timers = { refresh: 14_400, retry: 3600, expire: 1_209_600, minimum: 300 } as const
const APEX_TTL = 3600

/** Makes a zone of what is kept of it. @throws RangeError when its own name is none */
export function createZone(data: ZoneData, options: ZoneOptions): Zone {
  const { name: given, serial, records, isLeaving = false } = data
  const keys = data.openKeys?.() ?? []
  const name = nameOf(given)
  const drafts = new Map<string, Map<number, Draft>>()
  for (const record of records)
    try {
      addRecord(drafts, ownerOf(record.name, name), record)
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

/** @throws RangeError when it is no name in the zone */
export function ownerOf(relative: string, zone: string): string {
  const owner = nameOf(relative === '' || relative === '@' ? zone : `${relative}.${zone}`)
  if (!isWithin(owner, zone)) throw new RangeError(`not in the zone: ${owner}`)
  return owner
}

function addRecord(drafts: Map<string, Map<number, Draft>>, owner: string, record: ZoneRecord): void {
  const { type, data, target } = readRecord(record)
  const ttl = usableTtl(record.ttl)
  const node = drafts.get(owner) ?? new Map<number, Draft>()
  drafts.set(owner, node)
  const draft: Draft = node.get(type) ?? { type, ttl, data: new Map(), targets: new Set() }
  node.set(type, draft)
  // RFC 2181 §5.2: a set has one time to live
  draft.ttl = Math.min(draft.ttl, ttl)
  draft.data.set(dataKey(data), data)
  if (target !== undefined) draft.targets.add(target)
}

/** Equal texts are equal data of records of one type. */
export const dataKey = (data: RecordSet['data'][number]): string =>
  data.map((part) => (typeof part === 'string' ? part : part.toString('latin1'))).join('\0')

const finished = ({ type, ttl, data, targets }: Draft): RecordSet => ({
  type,
  ttl,
  data: [...data.values()],
  targets: [...targets],
})

/** Names that exist because something is below them, and the apex. */
function addEmptyNames(nodes: Map<string, Map<number, RecordSet>>, zone: string): void {
  for (const owner of [...nodes.keys()])
    for (let name = owner; name !== zone; ) {
      name = parentOf(name)
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
