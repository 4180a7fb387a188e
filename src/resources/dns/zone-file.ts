import type { DnsRecord } from './record.ts'
import { leadsToName } from './record.ts'
import { hostNameIn } from './zone-name.ts'

/* Zone files (RFC 1035 §5) as people take from one provider to the next. */

/** An entry of a file; names are absolute, without a dot at the end. */
export interface FileEntry {
  /** In the file, from 1. */
  readonly line: number
  readonly name: string
  readonly ttl: number | undefined
  readonly type: string
  /** Quotes and backslashes as they stand. */
  readonly words: readonly string[]
}

export const MOST_FILE_BYTES = 262_144
const MOST_ENTRIES = 5000

/** What a file says that cannot be read, and where. */
export class ZoneFileFault extends Error {
  override readonly name = 'ZoneFileFault'
}

/**
 * Reads a zone file.
 * @param zone the origin until the file names another one
 * @throws ZoneFileFault
 */
export function readZoneFile(text: string, zone: string): FileEntry[] {
  const entries: FileEntry[] = []
  let origin = zone
  let usualTtl: number | undefined
  let last: string | undefined
  for (const { line, words, startsBlank } of statements(text)) {
    const fail = (fault: string): never => {
      throw new ZoneFileFault(`line ${line}: ${fault}`)
    }
    const [first = '', second] = words
    if (first.startsWith('$')) {
      if (first.toUpperCase() === '$ORIGIN') origin = absolute(second ?? fail('$ORIGIN names nothing'), origin)
      else if (first.toUpperCase() === '$TTL') usualTtl = secondsOf(second ?? '') ?? fail('$TTL is no time')
      else fail(`${first} is not supported`)
      continue
    }
    const name: string = startsBlank ? (last ?? fail('it has no name')) : absolute(first, origin)
    last = name
    const rest = startsBlank ? [...words] : words.slice(1)
    let ttl = usualTtl
    // class and TTL in either order (§5.1)
    for (let turn = 0; turn < 2; turn++) {
      const seconds = secondsOf(rest[0] ?? '')
      if (seconds !== undefined) {
        ttl = seconds
        rest.shift()
      } else if (/^(?:IN|CS|CH|HS)$/i.test(rest[0] ?? '')) {
        if (rest[0]?.toUpperCase() !== 'IN') fail(`the class ${rest[0]} is not supported`)
        rest.shift()
      }
    }
    const type = rest.shift()?.toUpperCase() ?? fail('it has no type')
    if (entries.length === MOST_ENTRIES) fail(`a file may have ${MOST_ENTRIES} entries`)
    entries.push({ line, name, ttl, type, words: rest.map((word, at) => wholeName(type, word, at, origin)) })
  }
  return entries
}

/** The name that a record leads to is its last word. */
function wholeName(type: string, word: string, at: number, origin: string): string {
  const place = { CNAME: 0, NS: 0, MX: 1, SRV: 3 }[type]
  return at === place && word !== '.' ? absolute(word, origin) : word
}

const absolute = (name: string, origin: string): string => {
  if (name === '@') return origin
  const whole = name.endsWith('.') ? name.slice(0, -1) : `${name}.${origin}`
  return whole.toLowerCase()
}

const UNITS: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 }

/** `3600`, or `1h30m` as BIND writes it. */
function secondsOf(text: string): number | undefined {
  if (/^\d{1,10}$/.test(text)) return Number(text)
  if (!/^(?:\d{1,10}[smhdw])+$/i.test(text)) return undefined
  const parts = [...text.toLowerCase().matchAll(/(\d+)([smhdw])/g)]
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * (UNITS[unit as string] as number), 0)
}

interface Statement {
  readonly line: number
  readonly words: readonly string[]
  /** It has the name of the one before. */
  readonly startsBlank: boolean
}

/** One pass: what parentheses hold together, without comments. */
function* statements(text: string): Generator<Statement> {
  // a word, quoted ones with their quotes; a bracket; a comment; the end of a line; blanks; a quote without its other one
  const token = /"(?:[^"\\\n]|\\[^\n])*"|[()]|;[^\n]*|\r?\n|[ \t\r]+|(?:[^\s"();\\]|\\[^\n])+|./gsy
  let line = 1
  let begun = 1
  let words: string[] = []
  let startsBlank = false
  let isOpen = false
  let isAtStart = true
  for (const [found] of text.matchAll(token)) {
    if (found === '(' || found === ')') {
      if (isOpen === (found === '(')) throw new ZoneFileFault(`line ${line}: a bracket without its other one`)
      isOpen = found === '('
    } else if (found.endsWith('\n')) {
      line++
      if (isOpen) continue
      if (words.length > 0) yield { line: begun, words, startsBlank }
      words = []
      startsBlank = false
      isAtStart = true
      begun = line
      continue
    } else if (/^[ \t\r]/.test(found)) startsBlank ||= isAtStart
    else if (found === '"' || found === '\\') throw new ZoneFileFault(`line ${line}: a quote without its other one`)
    else if (!found.startsWith(';')) words.push(found)
    isAtStart = false
  }
  if (isOpen) throw new ZoneFileFault(`line ${line}: a bracket without its other one`)
  if (words.length > 0) yield { line: begun, words, startsBlank }
}

/** The records of a zone as a file: what {@link readZoneFile} reads. SOA and NS of the zone itself are the name server's own. */
export function writeZoneFile(zone: string, records: readonly DnsRecord[]): string {
  const lines = records.map((record) => {
    const { type, name, ttl, priority, weight, port } = record
    const numbers = [priority, weight, port].filter((number) => number !== null)
    return [name || '@', ttl, 'IN', type, ...numbers, valueInFile(record)].join('\t')
  })
  return [`$ORIGIN ${zone}.`, '$TTL 3600', ...lines, ''].join('\n')
}

function valueInFile({ type, value }: DnsRecord): string {
  if (leadsToName(type)) return `${value}.`
  if (type !== 'TXT') return value
  return textParts(value)
    .map((part) => `"${part.replace(/["\\]/g, '\\$&')}"`)
    .join(' ')
}

/** At most 255 bytes each (RFC 1035 §3.3.14), characters whole. */
function textParts(text: string): string[] {
  const parts = ['']
  for (const character of text) {
    const last = parts.at(-1) as string
    if (Buffer.byteLength(last + character) > 255) parts.push(character)
    else parts[parts.length - 1] = last + character
  }
  return parts
}

/** What an entry says, as a client would write it into the body of `POST …/records`. */
export function inputOf({ name, ttl, type, words }: FileEntry) {
  const numbers = words.map(Number)
  const common = { type, name: `${name}.`, ...(ttl !== undefined && { ttl }) }
  if (type === 'MX') return { ...common, priority: numbers[0] as number, value: words[1] ?? '' }
  if (type === 'SRV') {
    const [priority, weight, port] = numbers as [number, number, number]
    return { ...common, priority, weight, port, value: words[3] ?? '' }
  }
  // in quotes, so that escapes hold in bare words, too
  if (type === 'TXT')
    return { ...common, value: words.map((word) => (word.startsWith('"') ? word : `"${word}"`)).join(' ') }
  return { ...common, value: words.join(' ') }
}

/** The zone's own name servers and its start of authority: those are Stead's. */
export const isServersOwn = ({ type, name }: FileEntry, zone: string): boolean =>
  type === 'SOA' || (type === 'NS' && name === hostNameIn(zone, ''))
