import { isIPv4, isIPv6 } from 'node:net'
import { addressBytes, canonicalAddress } from './ip-address.ts'
import { dnsName, wireOf } from './name.ts'

/* HTTPS records (RFC 9460): a priority, the name of the service, and facts that a client can use before it connects. */

/** The keys of parameters, by their numbers in IANA's registry. */
const keys = ['mandatory', 'alpn', 'no-default-alpn', 'port', 'ipv4hint', 'ech', 'ipv6hint'] as const
type Key = (typeof keys)[number]

interface Parameter {
  readonly number: number
  /** As in a zone file. */
  readonly text: string
  readonly bytes: Buffer
}

/** A parsed value. */
interface ServiceBinding {
  readonly priority: number
  /** `.` means the name of the record itself. */
  readonly target: string
  /** In the order of their numbers. */
  readonly parameters: readonly Parameter[]
}

/** @throws RangeError that states what is wrong */
export function readServiceBinding(value: string): ServiceBinding {
  const [first = '', target = '', ...rest] = value.match(/(?:[^\s"]|"[^"]*"?)+/g) ?? []
  const priority = /^\d{1,5}$/.test(first) ? Number(first) : Number.NaN
  if (!(priority <= 65_535) || !target) throw new RangeError('must look like: 1 . alpn="h2,h3"')
  const read = rest.map(readParameter).sort((a, b) => a.number - b.number)
  for (const [at, { number, text }] of read.entries())
    if (read[at + 1]?.number === number) throw new RangeError(`must have ${nameOfKey(text)} once`)
  if (priority === 0 && read.length > 0) throw new RangeError('must have no parameters with priority 0 (an alias)')
  const has = (key: Key) => read.some(({ number }) => number === keys.indexOf(key))
  if (has('no-default-alpn') && !has('alpn')) throw new RangeError('must have alpn together with no-default-alpn')
  const mandatory = read.find(({ number }) => number === 0)?.bytes ?? Buffer.alloc(0)
  for (let at = 0; at < mandatory.length; at += 2)
    if (!read.some(({ number }) => number === mandatory.readUInt16BE(at)))
      throw new RangeError('must have every parameter that mandatory names')
  return { priority, target: target === '.' ? '.' : target.replace(/\.$/, ''), parameters: read }
}

/**
 * Returns the value as in a zone file, with its parameters in order.
 * @param target its name, without a trailing dot
 */
export function serviceBindingText({ priority, target, parameters }: ServiceBinding): string {
  return [priority, target === '.' ? '.' : `${target}.`, ...parameters.map(({ text }) => text)].join(' ')
}

export function serviceBindingBytes({ priority, target, parameters }: ServiceBinding): Buffer {
  const head = Buffer.alloc(2)
  head.writeUInt16BE(priority)
  const params = parameters.map(({ number, bytes }) => {
    const lead = Buffer.alloc(4)
    lead.writeUInt16BE(number)
    lead.writeUInt16BE(bytes.length, 2)
    return Buffer.concat([lead, bytes])
  })
  // RFC 9460 §2.2: the name is never compressed.
  return Buffer.concat([head, target === '.' ? Buffer.from([0]) : wireOf(dnsName(target)), ...params])
}

const nameOfKey = (text: string): string => text.split('=')[0] as string

function readParameter(word: string): Parameter {
  const [, name = '', quoted, bare] = /^([a-z0-9-]{1,63})(?:=(?:"([^"\\]*)"|([^"\\]*)))?$/i.exec(word) ?? []
  const key = name.toLowerCase()
  const value = quoted ?? bare
  if (key === '') throw new RangeError(`must have parameters like alpn="h2,h3", without escapes (${word.slice(0, 50)})`)
  const number = numberOf(key)
  if (number === undefined) throw new RangeError(`must have none but known parameters (${key.slice(0, 50)})`)
  const bytes = bytesOf(keys[number], key, value)
  const shown = keys[number] ?? `key${number}`
  const text =
    value === undefined || value === '' ? shown : `${shown}=${/^[\w,.:+/=-]*$/.test(value) ? value : `"${value}"`}`
  return { number, text, bytes }
}

function numberOf(key: string): number | undefined {
  const known = keys.indexOf(key as Key)
  if (known >= 0) return known
  const number = /^key(0|[1-9]\d{0,4})$/.exec(key)?.[1]
  return number !== undefined && Number(number) < 65_535 ? Number(number) : undefined
}

const readers: Record<Key, (value: string) => Buffer> = {
  mandatory(value) {
    const numbers = listOf(value).map(numberOf)
    if (numbers.includes(undefined) || numbers.includes(0) || new Set(numbers).size < numbers.length)
      throw new RangeError('mandatory: must name other parameters, each once')
    return words((numbers as number[]).sort((a, b) => a - b))
  },
  alpn: (value) =>
    Buffer.concat(
      listOf(value).map((each) => {
        const bytes = Buffer.from(each)
        if (bytes.length > 255) throw new RangeError('alpn: must have names of at most 255 bytes')
        return Buffer.concat([Buffer.from([bytes.length]), bytes])
      }),
    ),
  'no-default-alpn'(value) {
    if (value !== '') throw new RangeError('no-default-alpn: must have no value')
    return Buffer.alloc(0)
  },
  port(value) {
    if (!/^\d{1,5}$/.test(value) || Number(value) > 65_535) throw new RangeError('port: must be from 0 to 65535')
    return words([Number(value)])
  },
  ipv4hint: (value) => Buffer.concat(listOf(value).map((each) => address('A', isIPv4(each), each))),
  ech(value) {
    const bytes = Buffer.from(value, 'base64')
    if (bytes.length === 0 || bytes.toString('base64').replace(/=+$/, '') !== value.replace(/=+$/, ''))
      throw new RangeError('ech: must be base64')
    return bytes
  },
  ipv6hint: (value) => Buffer.concat(listOf(value).map((each) => address('AAAA', isIPv6(each), each))),
}

function bytesOf(known: Key | undefined, key: string, value: string | undefined): Buffer {
  if (!known) return Buffer.from(value ?? '')
  if (/^key\d/.test(key)) throw new RangeError(`must have ${known} instead of ${key}`)
  return readers[known](value ?? '')
}

function listOf(value: string): string[] {
  const list = value.split(',')
  if (list.some((each) => each === '')) throw new RangeError('must have no empty entries in a list')
  return list
}

function address(type: 'A' | 'AAAA', isOne: boolean, text: string): Buffer {
  if (!isOne || text.includes('%')) throw new RangeError(`${type === 'A' ? 'ipv4hint' : 'ipv6hint'}: must be addresses`)
  return addressBytes(type, canonicalAddress(type, text))
}

function words(numbers: readonly number[]): Buffer {
  const bytes = Buffer.alloc(numbers.length * 2)
  for (const [at, number] of numbers.entries()) bytes.writeUInt16BE(number, at * 2)
  return bytes
}
