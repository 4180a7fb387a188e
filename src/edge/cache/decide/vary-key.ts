import { hash } from 'node:crypto'
import { connectionListed, isPassedOn } from '../../proxy/forwarding.ts'

/** By what an answer says that it differs (`Vary`). */
export interface VaryKey {
  /** Names of headers of requests, in lower case and in order, but for those that make no difference to what is stored. */
  readonly by: readonly string[]
  /** It is for those without cookies; who has some gets an answer of his own. */
  readonly byCookie: boolean
}

/** The copy of an address that is a visitor's, where there are several. */
export interface Selected {
  /** What it is found by. */
  readonly key: string
  readonly by: readonly string[]
  /** What the visitor says there, for the host: raw pairs, flat. */
  readonly headers: readonly string[]
}

/** More of them, and hardly two visitors say the same. */
const MOST_NAMES = 4
const LONGEST_NAME = 64
/** Of what a visitor says under all of them. */
const MOST_CHARACTERS = 1_024

/** Part of the address, never there (who has credentials is passed), or answered by the edge's own copies. */
const SETTLED = new Set(['', 'accept-encoding', 'authorization', 'host', 'x-forwarded-host', 'x-forwarded-proto'])
/** The host is not asked with these. */
const CONDITIONS = /^(?:range|if-.*)$/

export const nothing: VaryKey = { by: [], byCookie: false }

/**
 * @param headers of an answer, raw and flat
 * @returns undefined when nobody else can have it: it differs by anything, by too much, or by what hosts do not learn from visitors
 */
export function varyKeyOf(headers: readonly string[]): VaryKey | undefined {
  let told: Set<string> | undefined
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string
    if (name.length !== 4 || name.toLowerCase() !== 'vary') continue
    told ??= new Set()
    for (const each of (headers[i + 1] as string).split(',')) told.add(each.trim().toLowerCase())
  }
  if (!told) return nothing
  const byCookie = told.delete('cookie')
  const by = [...told].filter((name) => !SETTLED.has(name)).sort()
  return by.every(mayDecide) ? varyKey(by, byCookie) : undefined
}

const mayDecide = (name: string): boolean => name.length <= LONGEST_NAME && isPassedOn(name) && !CONDITIONS.test(name)

const varyKey = (by: readonly string[], byCookie: boolean): VaryKey | undefined =>
  by.length <= MOST_NAMES ? { by, byCookie } : undefined

/** An answer that was asked for with some headers, too, is for those who say the same there, whatever it says itself. */
export function togetherWith(asked: readonly string[], told: VaryKey): VaryKey | undefined {
  if (asked.every((name) => told.by.includes(name))) return told
  return varyKey([...new Set([...asked, ...told.by])].sort(), told.byCookie)
}

/** Their items may have spaces between them, or none (RFC 9110 §5.6.1). */
const LISTS = new Set(['accept', 'accept-charset', 'accept-language'])

/**
 * Which copy it is that is for requests with such headers (RFC 9111 §4.1). Compared is what the host gets: several lines as one, lists without
 * spaces, otherwise what was sent. Not the order of languages, either: where a visitor likes two alike, sites give him the first.
 * @param address the key of all copies
 * @param headers of a request, raw and flat
 * @returns undefined when they say too much
 */
export function select(address: string, by: readonly string[], headers: readonly string[]): Selected | undefined {
  const values: (string | undefined)[] = by.map(() => undefined)
  let listed: Set<string> | undefined | null = null
  for (let i = 0; i < headers.length; i += 2) {
    const place = by.indexOf((headers[i] as string).toLowerCase())
    if (place < 0) continue
    if (listed === null) listed = connectionListed(headers)
    if (listed?.has(by[place] as string)) continue
    const before = values[place]
    values[place] = before === undefined ? headers[i + 1] : `${before}, ${headers[i + 1]}`
  }
  if (values.reduce((sum, value) => sum + (value?.length ?? 0), 0) > MOST_CHARACTERS) return undefined
  const sent: string[] = []
  for (const [place, name] of by.entries()) {
    const value = values[place]
    if (value !== undefined) sent.push(name, LISTS.has(name) ? withoutSpaces(value) : value)
  }
  return { key: hash('sha256', JSON.stringify([address, by, sent]), 'base64url'), by, headers: sent }
}

const withoutSpaces = (list: string): string =>
  list
    .split(',')
    .map((item) => item.trim())
    .join(',')
