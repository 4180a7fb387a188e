import { closest } from '../../closest.ts'
import type { Endpoint } from '../endpoint.ts'

/*
 * Stead ignores fields and parameters that no contract knows, because clients may be newer or older than this version.
 * So that a slip does not look like success, the answer names them in a header, a list of RFC 9651:
 *
 *   Stead-Ignored: "phpVersion";in=body;did-you-mean="php_version", "page";in=query;send-in=body
 *
 * Names that are not ASCII appear as Display Strings (RFC 9651 §3.3.8). Long names are cut and end with `...`. If there
 * are too many, the rest is replaced by the token `and-more`.
 */

export const IGNORED_HEADER = 'stead-ignored'

/** The longest header. Proxies accept 4 kB for all headers of an answer, and some accept less. */
const MOST_BYTES = 1000
/** The most names that Stead looks for. */
const MOST_NAMES = 20
/** The longest name with its path, longer than any in a contract. */
const MOST_CHARACTERS = 64

type Place = 'query' | 'body'

/** The part of JSON Schema that the contracts use. */
interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
}

/** A field that the endpoint does not read. */
interface Unknown {
  readonly name: string
  /** Its place, in the form that faults use: `plugins[].`. */
  readonly path: string
  /** Known names on the same level that were not sent. */
  readonly candidates: readonly string[]
}

const none: Schema = { properties: {} }

/**
 * @param query the parsed query;
 * @param body the effective body
 * @returns the header's value for the parts of the request that the endpoint ignores; `undefined` if it reads
 * everything
 */
export function ignoredFields(
  { query: ofQuery = none, body, method }: { query?: Schema; body?: Schema; method: Endpoint['method'] },
  given: { readonly query: unknown; readonly body: unknown },
): string | undefined {
  // The same rule as in the pipeline: parameters of a GET or DELETE may be in its body.
  const ofBody = body ?? (method === 'GET' || method === 'DELETE' ? ofQuery : none)
  const members = [
    ...unknownIn(ofQuery, given.query).map((field) => member(field, 'query', 'body', ofBody)),
    ...unknownIn(ofBody, given.body).map((field) => member(field, 'body', 'query', ofQuery)),
  ]
  return members.length === 0 ? undefined : joined(members)
}

function unknownIn(schema: Schema, value: unknown): Unknown[] {
  const found = new Map<string, Unknown>()
  collect(schema, value, '', found)
  return [...found.values()]
}

/** Collects unknown fields as deep as the schema goes. Stops when there are more than the header shows. */
function collect(schema: Schema, value: unknown, path: string, found: Map<string, Unknown>): void {
  if (typeof value !== 'object' || value === null) return
  if (schema.items) {
    // A single entry may be sent for a list.
    for (const entry of Array.isArray(value) ? value : [value]) collect(schema.items, entry, `${path}[]`, found)
    return
  }
  const { properties } = schema
  if (!properties || Array.isArray(value)) return
  for (const name of Object.keys(value)) {
    if (found.size > MOST_NAMES) return
    const prefix = path && `${path}.`
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined
    if (property) collect(property, (value as Record<string, unknown>)[name], prefix + name, found)
    else if (!found.has(prefix + name)) {
      const candidates = Object.keys(properties).filter((each) => !Object.hasOwn(value, each))
      found.set(prefix + name, { name, path: prefix, candidates })
    }
  }
}

function member({ name, path, candidates }: Unknown, here: Place, there: Place, thereSchema: Schema): string {
  const elsewhere = path ? [] : Object.keys(thereSchema.properties ?? {})
  const meant = meantBy(shortened(name), candidates, elsewhere)
  const isElsewhere = meant !== undefined && !candidates.includes(meant)
  return [
    quoted(shortened(path + name)),
    `in=${here}`,
    ...(meant !== undefined && meant !== name ? [`did-you-mean=${quoted(path + meant)}`] : []),
    ...(isElsewhere ? [`send-in=${there}`] : []),
  ].join(';')
}

/** Returns the name without capitals and underscores, which people do not notice. */
const plain = (name: string): string => name.toLowerCase().replace(/[^a-z\d]/g, '')

function meantBy(name: string, here: readonly string[], there: readonly string[]): string | undefined {
  if (there.includes(name) && !here.includes(name)) return name
  const known = [...here, ...there]
  const word = plain(name)
  const found = word && closest(word, known.map(plain))
  return found ? known.find((each) => plain(each) === found) : undefined
}

const shortened = (name: string): string =>
  name.length <= MOST_CHARACTERS ? name : `${name.slice(0, MOST_CHARACTERS - 3)}...`

/** Returns a String of RFC 9651, or a Display String if the text is not ASCII. */
function quoted(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text)) return `"${text.replace(/["\\]/g, '\\$&')}"`
  const bytes = Buffer.from(text, 'utf8')
  const escaped = [...bytes].map((byte) => {
    const isPlain = byte >= 0x20 && byte <= 0x7e && byte !== 0x25 && byte !== 0x22
    return isPlain ? String.fromCharCode(byte) : `%${byte.toString(16).padStart(2, '0')}`
  })
  return `%"${escaped.join('')}"`
}

const MORE = 'and-more'

function joined(members: readonly string[]): string {
  const kept: string[] = []
  let bytes = MORE.length
  for (const each of members.slice(0, MOST_NAMES)) {
    bytes += each.length + 2
    if (bytes > MOST_BYTES) break
    kept.push(each)
  }
  return [...kept, ...(kept.length < members.length ? [MORE] : [])].join(', ')
}
