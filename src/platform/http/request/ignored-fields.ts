import { closest } from '../../closest.ts'
import type { Endpoint } from '../endpoint.ts'

/*
 * What a request has and no contract knows is passed over, as clients need that are newer or older than this Stead. So that a slip
 * does not pass for success, the answer names it in a header, a list of RFC 9651:
 *
 *   Stead-Ignored: "phpVersion";in=body;did-you-mean="php_version", "page";in=query;send-in=body
 *
 * Names that are not ASCII stand there as Display Strings (RFC 9651 §3.3.8), long ones are cut and end with `...`. What is too much is left
 * out, and the token `and-more` stands for it.
 */

export const IGNORED_HEADER = 'stead-ignored'

/** Of the header: proxies take 4 kB for all headers of an answer, and some less. */
const MOST_BYTES = 1000
/** Names that are looked for at all. */
const MOST_NAMES = 20
/** Of one name, with the path to it; longer than any of a contract. */
const MOST_CHARACTERS = 64

type Place = 'query' | 'body'

/** The part of JSON Schema that the contracts use. */
interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
}

/** A field that nobody reads. */
interface Unknown {
  readonly name: string
  /** Where it lies, as in faults: `plugins[].`. */
  readonly path: string
  /** Known names beside it that were not sent. */
  readonly candidates: readonly string[]
}

const none: Schema = { properties: {} }

/**
 * @param query as it was parsed; @param body what counts as the body
 * @returns the value of the header for what the endpoint passes over of the request; `undefined` when it reads everything
 */
export function ignoredFields(
  { query: ofQuery = none, body, method }: { query?: Schema; body?: Schema; method: Endpoint['method'] },
  given: { readonly query: unknown; readonly body: unknown },
): string | undefined {
  // as the pipeline reads it: parameters of a GET or DELETE may stand in its body
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

/** As deep as the schema goes; ends when there is more to say than is said. */
function collect(schema: Schema, value: unknown, path: string, found: Map<string, Unknown>): void {
  if (typeof value !== 'object' || value === null) return
  if (schema.items) {
    // one entry may stand for a list of it
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

/** What differs in capitals and underscores alone is the same to a person. */
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

/** A String of RFC 9651, or a Display String for what is not ASCII. */
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
