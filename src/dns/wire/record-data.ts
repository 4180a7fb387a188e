import { type FingerprintType, readFingerprint } from './fingerprint-data.ts'
import { addressBytes } from './ip-address.ts'
import { dnsName, wireOf } from './name.ts'
import { Type } from './protocol.ts'
import { readServiceBinding, serviceBindingBytes } from './service-binding.ts'

/** A piece of a record's data: bytes, or a name that may be compressed (see RFC 3597 §4). */
export type DataPart = Buffer | string

/** All records of one name and type. */
export interface RecordSet {
  readonly type: number
  readonly ttl: number
  readonly data: readonly (readonly DataPart[])[]
  /** Host names in the data whose addresses a client needs next. */
  readonly targets: readonly string[]
}

export type ServedRecordType = 'A' | 'AAAA' | 'CNAME' | 'MX' | 'TXT' | 'SRV' | 'NS' | 'CAA' | 'HTTPS' | FingerprintType

/** A record as it is stored. */
export interface ZoneRecord {
  readonly type: string
  /** Relative to the zone. '' is the zone itself. */
  readonly name: string
  readonly value: string
  readonly priority: number | null
  readonly weight: number | null
  readonly port: number | null
  readonly ttl: number
}

const MOST_TTL = 2 ** 31 - 1
/** The most bytes of one string in a TXT record. */
const TXT_STRING_BYTES = 255
const MOST_DATA_BYTES = 65_535

interface ReadData {
  readonly type: number
  readonly data: readonly DataPart[]
  readonly target?: string
}

/** @throws RangeError when DNS cannot express the record */
export function readRecordData(record: ZoneRecord): ReadData {
  const read = Object.hasOwn(readers, record.type) ? readers[record.type as ServedRecordType] : undefined
  if (!read) throw new RangeError(`no type that is served: ${record.type}`)
  const result = read(record)
  const bytes = result.data.reduce((sum, part) => sum + (typeof part === 'string' ? wireOf(part) : part).length, 0)
  if (bytes > MOST_DATA_BYTES) throw new RangeError('more than fits into a record')
  return result
}

/** Returns the TTL, or 0 for an invalid one (RFC 2181 §8). */
export const usableTtl = (ttl: number): number => (Number.isInteger(ttl) && ttl >= 0 && ttl <= MOST_TTL ? ttl : 0)

const readers: Record<ServedRecordType, (record: ZoneRecord) => ReadData> = {
  A: ({ value }) => ({ type: Type.A, data: [addressBytes('A', value)] }),
  AAAA: ({ value }) => ({ type: Type.AAAA, data: [addressBytes('AAAA', value)] }),
  CNAME: ({ value }) => ({ type: Type.CNAME, data: [dnsName(value)] }),
  NS: ({ value }) => ({ type: Type.NS, data: [dnsName(value)], target: dnsName(value) }),
  MX: ({ value, priority }) => ({
    type: Type.MX,
    data: [uint16s(priority ?? 0), dnsName(value)],
    target: dnsName(value),
  }),
  SRV: ({ value, priority, weight, port }) => ({
    type: Type.SRV,
    // RFC 2782: the target is never compressed.
    data: [Buffer.concat([uint16s(priority ?? 0, weight ?? 0, port ?? 0), wireOf(dnsName(value))])],
    target: dnsName(value),
  }),
  TXT: ({ value }) => ({ type: Type.TXT, data: [strings(value)] }),
  HTTPS: ({ value }) => ({ type: Type.HTTPS, data: [serviceBindingBytes(readServiceBinding(value))] }),
  SSHFP: ({ value }) => ({ type: Type.SSHFP, data: [fingerprint('SSHFP', value)] }),
  TLSA: ({ value }) => ({ type: Type.TLSA, data: [fingerprint('TLSA', value)] }),
  CAA({ value }) {
    const match = /^(\d{1,3})\s+([a-z0-9]+)\s+(?:"(.*)"|(\S*))$/is.exec(value)
    const flags = Number(match?.[1])
    if (!match || flags > 255) throw new RangeError(`no CAA record: ${value}`)
    const tag = Buffer.from((match[2] as string).toLowerCase())
    return {
      type: Type.CAA,
      data: [Buffer.concat([Buffer.from([flags, tag.length]), tag, Buffer.from(match[3] ?? match[4] ?? '')])],
    }
  },
}

function fingerprint(type: FingerprintType, value: string): Buffer {
  const { numbers, bytes } = readFingerprint(type, value)
  return Buffer.concat([Buffer.from(numbers), bytes])
}

/** Encodes unsigned 16-bit numbers. */
export function uint16s(...numbers: readonly number[]): Buffer {
  const buffer = Buffer.alloc(numbers.length * 2)
  for (const [at, number] of numbers.entries()) buffer.writeUInt16BE(number, at * 2)
  return buffer
}

/** Encodes unsigned 32-bit numbers. */
export function longs(...numbers: readonly number[]): Buffer {
  const buffer = Buffer.alloc(numbers.length * 4)
  for (const [at, number] of numbers.entries()) buffer.writeUInt32BE(number >>> 0, at * 4)
  return buffer
}

/** Splits a text into pieces, each after its length. */
function strings(text: string): Buffer {
  const bytes = Buffer.from(text)
  const parts: Buffer[] = []
  for (let at = 0; at === 0 || at < bytes.length; at += TXT_STRING_BYTES) {
    const part = bytes.subarray(at, at + TXT_STRING_BYTES)
    parts.push(Buffer.from([part.length]), part)
  }
  return Buffer.concat(parts)
}
