/**
 * Creates requests from the OpenAPI document with a seed: valid ones, invalid ones, garbage. The same seed creates the
 * same request.
 */
import type { InjectOptions } from 'light-my-request'

/** Pseudo-random choices from a seed (mulberry32). */
export class Dice {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** From 0 up to, but not including, 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = this.#state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  below(limit: number): number {
    return Math.floor(this.next() * limit)
  }

  chance(share: number): boolean {
    return this.next() < share
  }

  of<Value>(values: readonly Value[]): Value {
    return values[this.below(values.length)] as Value
  }

  text(most: number): string {
    return Array.from({ length: this.below(most + 1) }, () => this.of(CHARACTERS)).join('')
  }
}

const CHARACTERS = [
  ...'aZ09 -_./%?#&=+"\'\\<>{}[]()*;:,@!$^~|`',
  '\u0000',
  '\u007f',
  'é',
  '\u202e',
  '\ud800',
  '💩',
  '\n',
  '\r',
]

/** Values that have broken programs before. */
const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)])
const NASTY: readonly unknown[] = [
  null,
  '',
  ' ',
  '\u0000',
  'a\u0000b',
  '\ud800',
  '../../etc/passwd',
  "' or 1=1 --",
  '%00',
  '{{7*7}}',
  '<script>',
  'x'.repeat(300),
  'x'.repeat(70_000),
  0,
  -1,
  1.5,
  1e300,
  -0,
  2 ** 31,
  2 ** 53,
  '9'.repeat(16),
  '9'.repeat(40),
  true,
  [],
  {},
  [[]],
  [null],
  [-1],
  nested(40),
  { constructor: { prototype: { isOwned: true } } },
  JSON.parse('{"__proto__":{"isOwned":true}}'),
]

interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
}
interface Parameter {
  readonly $ref?: string
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required?: boolean
  readonly schema?: Schema
}
interface Described {
  readonly operationId: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }
}
export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>
}

export interface Known {
  readonly tokens: readonly string[]
  /** Existing values of any kind, by the words of a path (`/v1/sites/{site_id}/notes/{id}` → `id of notes`). */
  values(path: string, name: string): readonly (string | number)[]
  /** Texts for fields that name something: addresses, names, credentials. */
  readonly texts: readonly string[]
}

export interface FuzzRequest {
  readonly operationId: string
  readonly request: InjectOptions & { url: string; method: NonNullable<InjectOptions['method']> }
}

/** @param document of the API under test */
export function requestMaker(document: Document) {
  const all = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, described]) => ({ path, method: method.toUpperCase(), described })),
  )
  const deref = <Node extends { $ref?: string }>(node: Node): Node => {
    if (!node.$ref) return node
    const keys = node.$ref.slice(2).split('/')
    return deref(keys.reduce((at: unknown, key) => (at as Record<string, unknown>)[key], document) as Node)
  }
  return (seed: number, known: Known): FuzzRequest => {
    const dice = new Dice(seed)
    const { path, method, described } = dice.of(all)
    /** How wild the values are: most requests are valid except in a place or two. */
    const wildness = dice.of([0, 0, 0.08, 0.08, 0.3, 1])
    const value = new Values(dice, wildness, known, deref)
    const parameters = (described.parameters ?? []).map((each) => deref(each))
    const filled = path.replace(/\{(\w+)\}/g, (_, name) => value.segment(path, name))
    const query = parameters.filter((each) => each.in === 'query' && dice.chance(0.4))
    const pairs = query.map(
      (each) => `${each.name}=${encodeURIComponent(wellFormed(value.ofSchema(each.schema ?? {})))}`,
    )
    if (dice.chance(wildness / 4)) pairs.push(dice.text(12).replaceAll('#', ''))
    const url = filled + (pairs.length > 0 ? `?${pairs.join('&')}` : '')
    const headers: Record<string, string> = {}
    if (!dice.chance(wildness / 5)) headers.authorization = `Bearer ${dice.of(known.tokens)}`
    else if (dice.chance(0.5)) headers.authorization = headerText(dice)
    if (method !== 'GET' && dice.chance(0.1))
      headers['idempotency-key'] = dice.chance(wildness) ? headerText(dice) : `k${dice.below(500)}`
    if (dice.chance(wildness)) headers[dice.of(HEADERS)] = headerText(dice)
    const schema = Object.values(described.requestBody?.content ?? {})[0]?.schema
    const body = value.body(schema)
    if (body !== undefined) headers['content-type'] = dice.chance(wildness / 4) ? dice.of(TYPES) : 'application/json'
    return {
      operationId: described.operationId,
      request: { method: method as 'GET', url, headers, ...(body !== undefined && { payload: body }) },
    }
  }
}

const HEADERS = [
  'user-agent',
  'accept',
  'if-none-match',
  'x-request-id',
  'x-forwarded-for',
  'cookie',
  'origin',
  'range',
]
const TYPES = [
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/xml',
  'a',
  '',
]

const headerText = (dice: Dice): string => dice.text(40).replace(/[^\x20-\x7e]/g, '')
const wellFormed = (value: unknown): string =>
  (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).toWellFormed().slice(0, 2000)

class Values {
  readonly #dice: Dice
  readonly #wildness: number
  readonly #known: Known
  readonly #deref: (schema: Schema) => Schema

  constructor(dice: Dice, wildness: number, known: Known, deref: (schema: Schema) => Schema) {
    this.#dice = dice
    this.#wildness = wildness
    this.#known = known
    this.#deref = deref
  }

  segment(path: string, name: string): string {
    const dice = this.#dice
    if (!dice.chance(this.#wildness)) return encodeURIComponent(String(dice.of(this.#known.values(path, name))))
    return dice.of([
      () => '',
      () => String(10 ** 7 + dice.below(10 ** 6)),
      () => dice.of(['0', '-1', '%00', '%zz', 'a', '1e9', '9'.repeat(20), '%2e%2e', '..', '%2f', 'x'.repeat(600)]),
      () => encodeURIComponent(dice.text(20).toWellFormed()),
    ])()
  }

  body(schema: Schema | undefined): string | undefined {
    const dice = this.#dice
    if (dice.chance(this.#wildness / 4))
      return dice.of([
        () => dice.text(60),
        () => '',
        () => '{',
        () => '[]',
        () => 'null',
        () => JSON.stringify(dice.of(NASTY)),
        () => 'x'.repeat((1 << 20) + dice.below(3)),
      ])()
    if (!schema) return dice.chance(this.#wildness / 2) ? JSON.stringify(dice.of(NASTY)) : undefined
    return JSON.stringify(this.ofSchema(schema))
  }

  ofSchema(given: Schema, name = ''): unknown {
    const dice = this.#dice
    if (dice.chance(this.#wildness)) return dice.of(NASTY)
    const schema = this.#deref(given)
    if (schema.enum) return dice.of(schema.enum)
    if (schema.anyOf) return this.ofSchema(dice.of(schema.anyOf), name)
    const type = typeof schema.type === 'string' ? schema.type : dice.of(schema.type ?? ['string'])
    if (type === 'object') return this.#object(schema)
    if (type === 'array') return this.#array(schema, name)
    if (type === 'integer' || type === 'number') return this.#integer(schema, name)
    if (type === 'boolean') return dice.chance(0.5)
    if (type === 'null') return null
    const text = dice.chance(0.7) ? dice.of(this.#known.texts) : dice.text(30)
    return text.slice(0, schema.maxLength).padEnd(schema.minLength ?? 0, 'x')
  }

  #object(schema: Schema): Record<string, unknown> {
    const entries = Object.entries(schema.properties ?? {}).filter(
      ([name]) => (schema.required?.includes(name) && !this.#dice.chance(this.#wildness)) || this.#dice.chance(0.5),
    )
    const made: Record<string, unknown> = Object.fromEntries(
      entries.map(([name, each]) => [name, this.ofSchema(each, name)]),
    )
    if (this.#dice.chance(this.#wildness)) made[this.#dice.text(8)] = this.#dice.of(NASTY)
    return made
  }

  #array(schema: Schema, name: string): unknown[] {
    const least = schema.minItems ?? 0
    const length = least + this.#dice.below(Math.min(4, (schema.maxItems ?? 99) - least + 1))
    return Array.from({ length }, () => this.ofSchema(schema.items ?? {}, name))
  }

  #integer(schema: Schema, name: string): number {
    if (/site/i.test(name) && this.#dice.chance(0.7))
      return Number(this.#dice.of(this.#known.values('/sites/{id}', 'id')))
    const least = Math.max(schema.minimum ?? 0, 0)
    return least + this.#dice.below(Math.min(1000, (schema.maximum ?? 1000) - least + 1))
  }
}

/** Requests that no HTTP client sends, each for its own connection. */
export function garbage(seed: number): Buffer {
  const dice = new Dice(seed)
  const line = () =>
    `${dice.of(['GET', 'POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'BREW', '', '\u0000'])} ${dice.of(['/v1/sites', '/auth/token', '*', 'http://[', '/%', '//', '/..', dice.text(30)])} ${dice.of(['HTTP/1.1', 'HTTP/1.1', 'HTTP/1.0', 'HTTP/9.9', ''])}\r\n`
  const header = () =>
    dice.of([
      () => 'Host: x\r\n',
      () => `Content-Length: ${dice.of(['0', '5', '-1', '99999999999999999999', 'x', '5, 6'])}\r\n`,
      () => `Transfer-Encoding: ${dice.of(['chunked', 'chunked, chunked', 'gzip', 'x'])}\r\n`,
      () => `Content-Type: ${dice.of([...TYPES, 'application/json'])}\r\n`,
      () => 'Connection: close\r\n',
      () => 'Expect: 100-continue\r\n',
      () => 'Upgrade: websocket\r\nConnection: Upgrade\r\n',
      () => `${dice.text(10)}: ${dice.text(40)}\r\n`,
      () => `X-Long: ${'a'.repeat(dice.below(20_000))}\r\n`,
      () => ' folded\r\n',
    ])()
  const body = () =>
    dice.of([
      () => '',
      () => '{"a":',
      () => '5\r\nhello\r\n0\r\n\r\n',
      () => 'ffffffffffffffff\r\n',
      () => dice.text(200),
    ])()
  if (dice.chance(0.2)) return Buffer.from(Array.from({ length: dice.below(300) }, () => dice.below(256)))
  const head = line() + Array.from({ length: dice.below(6) }, header).join('')
  return Buffer.from(`${head}${dice.chance(0.9) ? '\r\n' : ''}${body()}`, dice.chance(0.5) ? 'latin1' : 'utf8')
}
