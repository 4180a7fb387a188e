import { isIP } from 'node:net'
import Type from 'typebox'
import { type FingerprintType, readFingerprint } from '../../../dns/wire/fingerprint-data.ts'
import { type AddressType, canonicalAddress } from '../../../dns/wire/ip-address.ts'
import { readServiceBinding, serviceBindingText } from '../../../dns/wire/service-binding.ts'
import { hostNameIn, normalName } from '../zone-name.ts'
import type { RecordDraft, RecordType } from './record.ts'
import { leadsToName, recordTypes } from './record.ts'

/** Body of `POST /v1/zones/{zone_id}/records`. {@link readRecord} checks what each type needs. */
export const NewRecord = Type.Object(
  {
    type: Type.String({ maxLength: 10, description: `One of ${recordTypes.join(', ')}`, examples: ['A'] }),
    name: Type.Optional(
      Type.String({
        maxLength: 255,
        description: 'Part before the name of the zone, or the full name. `@`, empty or absent for the zone itself',
        examples: ['mail'],
      }),
    ),
    value: Type.Optional(
      Type.String({
        maxLength: 4096,
        description:
          'An address (A, AAAA), a host name (CNAME, MX, NS, SRV), a text (TXT), or `0 issue "ca.example"` (CAA), `1 . alpn="h2,h3"` (HTTPS), `3 1 1 <hex>` (TLSA), or `4 2 <hex>` (SSHFP). An A record with `site_id` needs none',
        examples: ['192.0.2.1'],
      }),
    ),
    priority: Type.Optional(Type.Integer({ description: 'Required for MX and SRV: 0 to 65535' })),
    weight: Type.Optional(Type.Integer({ description: 'Required for SRV: 0 to 65535' })),
    port: Type.Optional(Type.Integer({ description: 'Required for SRV: 0 to 65535' })),
    ttl: Type.Optional(
      Type.Integer({
        description: 'Seconds. Default: the TTL of other records with this name and type, otherwise 3600',
      }),
    ),
    site_id: Type.Optional(Type.Integer({ description: 'Id of the site that the name points to (A records only)' })),
  },
  { title: 'NewDnsRecord' },
)
export type NewRecord = Type.Static<typeof NewRecord>

/** Some providers offer this type, but no name server serves it. */
const NO_ALIAS = 'type: ALIAS is not a DNS type. Use an A record that points to a site, or A and AAAA records'

/** RFC 2181 §8. */
const LONGEST_TTL = 2 ** 31 - 1
const LONGEST_TEXT = 4000

/** Draft whose TTL may still come from existing records. */
export type ReadRecord = Omit<RecordDraft, 'ttl'> & { readonly ttl: number | undefined }

/**
 * Reads the record that a client requests. An A record for a site may omit the value.
 * @returns one entry for each error, naming its field, if the record is invalid
 */
export function readRecord(
  input: NewRecord,
  zone: string,
): { faults: string[] } | { record: ReadRecord; hasValue: boolean } {
  const type = input.type.toUpperCase() as RecordType
  if (/^(?:ALIAS|ANAME)$/.test(type)) return { faults: [NO_ALIAS] }
  if (!recordTypes.includes(type)) return { faults: [`type: must be one of ${recordTypes.join(', ')}`] }
  const faults: string[] = []
  const note = <Value>(field: string, read: { fault: string } | { value: Value }): Value | undefined => {
    if ('value' in read) return read.value
    faults.push(`${field}: ${read.fault}`)
  }
  const isForSite = input.site_id !== undefined
  if (isForSite && type !== 'A') faults.push('site_id: is allowed for A records only')
  const hasValue = input.value !== undefined && input.value.trim() !== ''
  const name = note('name', readName(type, input.name ?? '', zone))
  const value = isForSite && type === 'A' && !hasValue ? '' : note('value', readValue(type, input.value ?? '', zone))
  const number = (field: 'priority' | 'weight' | 'port', types: readonly RecordType[]) =>
    types.includes(type) ? (note(field, readNumber(type, input[field])) ?? null) : null
  const priority = number('priority', ['MX', 'SRV'])
  const weight = number('weight', ['SRV'])
  const port = number('port', ['SRV'])
  const { ttl } = input
  if (ttl !== undefined && (ttl < 0 || ttl > LONGEST_TTL)) faults.push(`ttl: must be from 0 to ${LONGEST_TTL} seconds`)
  if (faults.length > 0 || name === undefined || value === undefined) return { faults }
  return { record: { type, name, value, priority, weight, port, ttl, siteId: input.site_id ?? null }, hasValue }
}

type Read<Value> = { fault: string } | { value: Value }

function readNumber(type: RecordType, given: number | undefined): Read<number> {
  if (given === undefined) return { fault: `is required for ${type} records` }
  return Number.isInteger(given) && given >= 0 && given <= 65_535
    ? { value: given }
    : { fault: 'must be from 0 to 65535' }
}

function readName(type: RecordType, given: string, zone: string): Read<string> {
  const text = given.trim()
  if (text === '' || text === '@') return apex(type)
  const [, star = '', rest = ''] = /^(\*(?:\.|$))?(.*)$/s.exec(text) ?? []
  const name = rest === '' ? '' : normalName(rest)
  if (name === undefined)
    return {
      fault: 'may contain letters, digits, dashes and underscores, with dots between labels of at most 63 characters',
    }
  const isWhole = name === zone || name.endsWith(`.${zone}`)
  if (rest.endsWith('.') && !isWhole) return { fault: `must end with ${zone} if it ends with a dot` }
  const before = name === zone ? '' : isWhole ? name.slice(0, -zone.length - 1) : name
  const label = star === '' ? before : before === '' ? '*' : `*.${before}`
  if (hostNameIn(zone, label).length > 253)
    return { fault: 'is too long: together with the zone, it can have 253 characters' }
  return label === '' ? apex(type) : { value: label }
}

/** A zone's own name has a SOA record, and a CNAME must be the only record of a name (RFC 1034 §3.6.2). */
const apex = (type: RecordType): Read<string> =>
  type === 'CNAME'
    ? {
        fault:
          'must be below the zone: a name with a CNAME cannot have other records, and the zone itself has SOA and NS. Use an A record that points to a site, or A and AAAA records',
      }
    : { value: '' }

function readValue(type: RecordType, given: string, zone: string): Read<string> {
  const text = given.trim()
  if (text === '') return { fault: `is required for ${type} records` }
  if (type === 'A' || type === 'AAAA') return readAddress(type, text)
  if (type === 'TXT') return readText(text)
  if (type === 'CAA') return readAuthority(text)
  if (type === 'HTTPS') return readService(text)
  if (type === 'TLSA' || type === 'SSHFP') return orFault(() => fingerprintText(type, text))
  return readTarget(type, text, zone)
}

function readAddress(type: AddressType, text: string): Read<string> {
  try {
    return { value: canonicalAddress(type, text) }
  } catch {
    if (text.includes('%')) return { fault: `must not contain a zone identifier (${text.slice(text.indexOf('%'))})` }
    return { fault: type === 'A' ? 'must be an IPv4 address' : 'must be an IPv6 address' }
  }
}

/** Reads the name that a record leads to. Even without a final dot it is absolute, as in responses. */
function readTarget(type: RecordType, text: string, zone: string): Read<string> {
  if (text === '@') return { value: zone }
  // "No mail", "no such service": RFC 7505, RFC 2782.
  if (text === '.' && (type === 'MX' || type === 'SRV')) return { value: '' }
  const name = normalName(text)
  if (name === undefined || isIP(name) !== 0 || !leadsToName(type)) return { fault: 'must be a host name' }
  return { value: name }
}

/** Reads one text, or several in quotes as in zone files, which are joined. */
function readText(text: string): Read<string> {
  const parts = /^"/.test(text) ? [...text.matchAll(/"((?:[^"\\]|\\.)*)"\s*/gsy)] : undefined
  const isQuoted = parts !== undefined && parts.map(([all]) => all).join('') === text
  const value = isQuoted ? unescaped(parts.map(([, part = '']) => part).join('')) : text
  if (value === undefined) return { fault: 'must be text in UTF-8' }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (/[\x00-\x08\x0a-\x1f\x7f]/.test(value)) return { fault: 'must not contain control characters' }
  const bytes = Buffer.byteLength(value)
  return bytes > LONGEST_TEXT ? { fault: `must have at most ${LONGEST_TEXT} bytes` } : { value }
}

/**
 * Decodes a text from a zone file, where `\\DDD` is a byte (RFC 1035 §5.1).
 * @returns undefined if it is not UTF-8
 */
function unescaped(text: string): string | undefined {
  const pieces = [...text.matchAll(/\\(\d{3})|\\?([^\\]|\\)/gsu)].map(([, byte, character = '']) => {
    if (byte === undefined) return Buffer.from(character)
    return Number(byte) < 256 ? Buffer.from([Number(byte)]) : undefined
  })
  if (pieces.includes(undefined)) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat(pieces as Buffer[]))
  } catch {
    return undefined
  }
}

function orFault(read: () => string): Read<string> {
  try {
    return { value: read() }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return { fault: error.message }
  }
}

function fingerprintText(type: FingerprintType, text: string): string {
  const { numbers, bytes } = readFingerprint(type, text)
  return [...numbers, bytes.toString('hex')].join(' ')
}

const readService = (text: string): Read<string> =>
  orFault(() => {
    const binding = readServiceBinding(text)
    const target = binding.target === '.' ? '.' : normalName(binding.target)
    if (target === undefined || isIP(target) !== 0)
      throw new RangeError('must have a host name, or `.`, after its priority')
    return serviceBindingText({ ...binding, target })
  })

/** Reads a CAA value (RFC 8659 §4). */
function readAuthority(text: string): Read<string> {
  const [, flags, tag, quoted, bare] = /^(\d{1,3})\s+([a-z0-9]{1,15})\s+(?:"([^"]*)"|([^\s"]+))$/i.exec(text) ?? []
  if (flags === undefined || tag === undefined || Number(flags) > 255)
    return { fault: 'must look like: 0 issue "ca.example"' }
  const value = quoted ?? bare ?? ''
  if (!/^[\x20-\x7e]{0,255}$/.test(value)) return { fault: 'must have at most 255 plain characters after its tag' }
  return { value: `${Number(flags)} ${tag.toLowerCase()} "${value}"` }
}
