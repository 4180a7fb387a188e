import { hash } from 'node:crypto'
import { connectionListed, isPassedOn } from '../../proxy/forwarding.ts'

/** The headers by which an answer varies (`Vary`). */
export interface VaryKey {
  /** Names of request headers, lower-case and sorted, without those that do not affect what is stored. */
  readonly by: readonly string[]
  /** For visitors without cookies. Visitors with cookies get an answer of their own. */
  readonly byCookie: boolean
}

/** The variant selected for this request (RFC 9111 §4.1). */
export interface Selected {
  /** The key of the variant. */
  readonly key: string
  readonly by: readonly string[]
  /** The visitor's values of these headers, for the host: raw pairs, flat. */
  readonly headers: readonly string[]
}

/** With more headers, hardly two visitors would match. */
const MOST_NAMES = 4
const LONGEST_NAME = 64
/** The bound of the visitor's values of all these headers. */
const MOST_CHARACTERS = 1_024

/**
 * Part of the address, never present (requests with credentials are passed), or handled by the edge's own encodings.
 */
const SETTLED = new Set(['', 'accept-encoding', 'authorization', 'host', 'x-forwarded-host', 'x-forwarded-proto'])
/** Headers that are not sent to the host. */
const CONDITIONS = /^(?:range|if-.*)$/

export const nothing: VaryKey = { by: [], byCookie: false }

/**
 * @param headers of an answer, raw and flat
 * @returns undefined when nobody else can get it: it varies by anything, by too much, or by headers that hosts do not
 *   get from visitors
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

/**
 * Combines the headers that a request was sent with and those that the answer names: the answer is for visitors who
 * match in all of them.
 */
export function togetherWith(asked: readonly string[], told: VaryKey): VaryKey | undefined {
  if (asked.every((name) => told.by.includes(name))) return told
  return varyKey([...new Set([...asked, ...told.by])].sort(), told.byCookie)
}

/** Their items may be separated with or without spaces (RFC 9110 §5.6.1). */
const LISTS = new Set(['accept', 'accept-charset', 'accept-language'])

/**
 * Selects the variant for such headers (RFC 9111 §4.1). Compares what the host gets: several lines as one, lists
 * without spaces, otherwise unchanged. The order of languages matters: of two with the same weight, sites choose the
 * first.
 * @param address the key of all variants
 * @param headers of a request, raw and flat
 * @returns undefined when the values are too long
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
