import type { DnsRecord } from '../records/record.ts'
import { leadsToName } from '../records/record.ts'
import { hostNameIn } from '../zone-name.ts'

/* Zone files (RFC 1035 §5), which users move from one provider to the next. */

/** Entry of a file. Names are absolute, without a final dot. */
export interface FileEntry {
  /** In the file, counted from 1. */
  readonly line: number
  readonly name: string
  readonly ttl: number | undefined
  readonly type: string
  /** With their quotes and backslashes. */
  readonly words: readonly string[]
}

export const MOST_FILE_BYTES = 262_144
const MOST_ENTRIES = 5000

/** Line that adds no record. */
export interface LeftOutLine {
  readonly line: number
  /** The beginning of the line. */
  readonly text: string
  readonly reason: string
}

export interface ZoneFile {
  readonly entries: readonly FileEntry[]
  readonly leftOut: readonly LeftOutLine[]
}

/** Error that changes the meaning of the rest of the file, with its place. */
export class ZoneFileFault extends Error {
  override readonly name = 'ZoneFileFault'
}

/** Error in one line. The others can still be read. */
class LineFault extends Error {
  override readonly name = 'LineFault'
}

const fail = (fault: string): never => {
  throw new LineFault(fault)
}

const MOST_SHOWN = 200
export const shownLine = (words: readonly string[]): string => words.join(' ').slice(0, MOST_SHOWN)

/**
 * Reads a zone file. Skips lines that cannot be read.
 * @param zone the origin until the file names another one
 * @throws ZoneFileFault if nothing after a line can be read as intended
 */
export function readZoneFile(text: string, zone: string): ZoneFile {
  const entries: FileEntry[] = []
  const leftOut: LeftOutLine[] = []
  const scope: Scope = { origin: zone, usualTtl: undefined, last: undefined }
  for (const statement of statements(text)) {
    const { line, words, fault } = statement
    try {
      if (fault !== undefined) fail(fault)
      const entry = readStatement(statement, scope)
      if (!entry) continue
      if (entries.length === MOST_ENTRIES)
        throw new ZoneFileFault(`line ${line}: a file may have ${MOST_ENTRIES} entries`)
      entries.push(entry)
    } catch (error) {
      if (!(error instanceof LineFault)) throw error
      if (leftOut.length === MOST_ENTRIES) throw new ZoneFileFault(`line ${line}: this is not a zone file`)
      leftOut.push({ line, text: shownLine(words), reason: error.message })
    }
  }
  return { entries, leftOut }
}

/** State that earlier lines have set. */
interface Scope {
  origin: string
  usualTtl: number | undefined
  last: string | undefined
}

/** @returns undefined for a line that is not an entry */
function readStatement({ line, words, startsBlank }: Statement, scope: Scope): FileEntry | undefined {
  const [first = '', second] = words
  if (first.startsWith('$')) {
    const directive = first.toUpperCase()
    if (directive === '$ORIGIN') {
      if (second === undefined) throw new ZoneFileFault(`line ${line}: $ORIGIN names nothing`)
      scope.origin = absolute(second, scope.origin)
    } else if (directive === '$TTL') scope.usualTtl = secondsOf(second ?? '') ?? fail('$TTL is not a valid time')
    else fail(`${first} is not supported`)
    return undefined
  }
  const { origin } = scope
  const name: string = startsBlank ? (scope.last ?? fail('it has no name')) : absolute(first, origin)
  scope.last = name
  const rest = startsBlank ? [...words] : words.slice(1)
  let ttl = scope.usualTtl
  // Class and TTL in either order (§5.1).
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
  return { line, name, ttl, type, words: rest.map((word, at) => wholeName(type, word, at, origin)) }
}

/** Makes the name that a record leads to, its last word, absolute. */
function wholeName(type: string, word: string, at: number, origin: string): string {
  const place = { CNAME: 0, NS: 0, MX: 1, SRV: 3, HTTPS: 1 }[type]
  if (at !== place || word === '.') return word
  return absolute(word, origin)
}

const absolute = (name: string, origin: string): string => {
  if (name === '@') return origin
  const whole = name.endsWith('.') ? name.slice(0, -1) : `${name}.${origin}`
  return whole.toLowerCase()
}

const UNITS: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 }

/** Reads a time: `3600`, or `1h30m` as BIND writes it. */
function secondsOf(text: string): number | undefined {
  if (/^\d{1,10}$/.test(text)) return Number(text)
  if (!/^(?:\d{1,10}[smhdw])+$/i.test(text)) return undefined
  const parts = [...text.toLowerCase().matchAll(/(\d+)([smhdw])/g)]
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * (UNITS[unit as string] as number), 0)
}

interface Statement {
  readonly line: number
  readonly words: readonly string[]
  /** Whether it has the name of the previous one. */
  readonly startsBlank: boolean
  /** Why it cannot be read. */
  readonly fault?: string
}

/** Splits a file into statements in one pass. Joins lines within parentheses, and removes comments. */
function* statements(text: string): Generator<Statement> {
  // In this order: a word, with its quotes if quoted; a parenthesis; a comment; a line end; blanks; an unpaired quote.
  const token = /"(?:[^"\\\n]|\\[^\n])*"|[()]|;[^\n]*|\r?\n|[ \t\r]+|(?:[^\s"();\\]|\\[^\n])+|./gsy
  let line = 1
  let begun = 1
  let words: string[] = []
  let startsBlank = false
  let isOpen = false
  let isAtStart = true
  let fault: string | undefined
  /**
   * Records the first error of a line. The error ends with the line, even inside parentheses, and the next line is read
   * again.
   */
  const note = (reason: string) => {
    fault ??= reason
    isOpen = false
  }
  const end = (): Statement => ({ line: begun, words, startsBlank, ...(fault !== undefined && { fault }) })
  for (const [found] of text.matchAll(token)) {
    if (found.endsWith('\n')) {
      line++
      if (isOpen) continue
      if (words.length > 0 || fault !== undefined) yield end()
      words = []
      startsBlank = false
      isAtStart = true
      fault = undefined
      begun = line
      continue
    }
    if (found === '(' || found === ')') {
      if (isOpen === (found === '(')) note(UNBALANCED)
      else isOpen = found === '('
    } else if (/^[ \t\r]/.test(found)) startsBlank ||= isAtStart
    else if (found === '"' || found === '\\') note('a quote without its other one')
    else if (!found.startsWith(';')) words.push(found)
    isAtStart = false
  }
  if (isOpen) throw new ZoneFileFault(`line ${begun}: ${UNBALANCED}`)
  if (words.length > 0 || fault !== undefined) yield end()
}

const UNBALANCED = 'a bracket without its other one'

/**
 * Writes the records of a zone as a file that {@link readZoneFile} reads. Omits SOA and NS of the zone itself, which
 * the name server supplies.
 */
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

/** Splits a text into parts of at most 255 bytes (RFC 1035 §3.3.14), with whole characters. */
function textParts(text: string): string[] {
  const parts = ['']
  for (const character of text) {
    const last = parts.at(-1) as string
    if (Buffer.byteLength(last + character) > 255) parts.push(character)
    else parts[parts.length - 1] = last + character
  }
  return parts
}

/** Converts an entry to the body of `POST …/records` that a client would send. */
export function recordInput({ name, ttl, type, words }: FileEntry) {
  const numbers = words.map(Number)
  const common = { type, name: `${name}.`, ...(ttl !== undefined && { ttl }) }
  if (type === 'MX') return { ...common, priority: numbers[0] as number, value: words[1] ?? '' }
  if (type === 'SRV') {
    const [priority, weight, port] = numbers as [number, number, number]
    return { ...common, priority, weight, port, value: words[3] ?? '' }
  }
  // The quotes of a parameter's value are separate words.
  if (type === 'HTTPS') return { ...common, value: words.join(' ').replace(/= "/g, '="') }
  // In quotes, so that escapes also work in bare words.
  if (type === 'TXT')
    return { ...common, value: words.map((word) => (word.startsWith('"') ? word : `"${word}"`)).join(' ') }
  return { ...common, value: words.join(' ') }
}

/** Returns whether the entry is the zone's own name server or start of authority, which Stead supplies. */
export const isServersOwn = ({ type, name }: FileEntry, zone: string): boolean =>
  type === 'SOA' || (type === 'NS' && name === hostNameIn(zone, ''))
