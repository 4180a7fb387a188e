import { hash } from 'node:crypto'
import { ownBuffer, ownText, textBytes } from '../../own-memory.ts'
import type { Lifetime, Tier } from '../decide/lifetime.ts'
import { allowsOrigin } from '../decide/shareability.ts'
import { nothing, type VaryKey } from '../decide/vary-key.ts'
import { codings, IDENTITY, isCompressible } from './encodings.ts'
import { newPlace, type Place } from './use-order.ts'

/** A stored response. */
export interface Entry {
  readonly key: string
  /** The key of the address that this is a variant of (see `select`). */
  readonly variantOf: string | undefined
  /** The headers that the variants differ by. */
  readonly varyKey: VaryKey
  readonly path: string
  /** What a purge may name besides the entry's own path: the paths of what it shows (see `HostNotes.shows`). */
  readonly shows: readonly string[]
  readonly siteId: number
  readonly tier: Tier
  /**
   * The site's epoch of this tier when the request to the host started. The entry is dead when a purge has increased it
   * since.
   */
  readonly epoch: number
  readonly status: number
  readonly reason: string
  /** Raw pairs for the visitor, flat: without length, coding, validator variants, and per-response headers. */
  readonly headers: readonly string[]
  readonly etag: string
  readonly lastModified: string
  /** Sent to the host for revalidation. Empty when the host gave none. */
  readonly hostEtag: string
  readonly renderer: string
  readonly contentType: string
  /** See `SharedAnswer`. */
  readonly allowsOrigin: boolean
  readonly isCompressible: boolean
  /** Bodies by coding (see `codings`). The first always exists. Set by {@link putBody}. */
  readonly bodies: (Buffer | undefined)[]
  /** Bytes before each body that belong to the entry, for the head that is sent with it. */
  readonly rooms: number[]
  /** Codings that exist, are being made, or are not worthwhile: one bit each. */
  asked: number
  /** When it was created, monotonic. */
  madeAtMs: number
  lifetime: Lifetime
  /** A refresh is in progress. */
  isRefreshing: boolean
  /** No refresh before this moment, because the last one failed. */
  retryAtMs: number
  hits: number
  /** The bytes that it counts in the memory's budget. */
  bytes: number
  /** The bytes that it takes besides its bodies: this, and for each body as sent. */
  readonly headBytes: number
  /** The usual maximum length of a head, in characters. */
  readonly headLength: number
  /** Visitors (and others) that need its bodies now. */
  readers: number
  /** Headers as sent in the current second, by coding. */
  readonly prepared: (Prepared | undefined)[]
  /** In the order of use of all entries, and of those of its site. */
  readonly places: readonly [Place<Entry>, Place<Entry>]
}

/** Headers of an answer as sent in one second. */
export interface Prepared {
  readonly second: number
  readonly how: string
  /** Raw pairs, flat. The last value is the place of the request ID. */
  readonly headers: string[]
  /** The same as text, once it was needed. */
  head?: string
}

/**
 * Objects and places in tables: an entry with the smallest body and head takes 1.9 kB of heap, and a buffer outside of
 * it.
 */
const OVERHEAD_BYTES = 2_048
/** Lines that each head has in addition to the host's, and the objects of a body. */
const PREPARED_BYTES = 768

/** Per-response parts: status line, coding, validator, age, length, connection, request ID. */
const MORE_HEAD_LENGTH = 512
/** Larger bodies are sent after their head: saving one write does not matter there. */
const MOST_JOINED_BYTES = 65_536

/** For a variant: its place among the others, and their names. */
const COPY_BYTES = 256

/** The parts of an entry. */
export interface Draft {
  readonly key: string
  readonly variantOf?: string | undefined
  readonly varyKey?: VaryKey
  readonly path: string
  /** As in the entry, separated by spaces. */
  readonly shows?: string
  readonly siteId: number
  readonly tier: Tier
  readonly epoch: number
  readonly status: number
  readonly reason: string
  /** As the host sent them, end-to-end headers only. */
  readonly headers: readonly string[]
  readonly renderer: string
  readonly body: Buffer
  readonly lifetime: Lifetime
  /** Of the same body, if known. */
  readonly etag?: string
  readonly nowMs: number
}

/** The stored part of a head, and what is known from it. */
interface KeptHead {
  /** Raw pairs, flat. */
  readonly kept: string[]
  hostEtag: string
  lastModified: string
  contentType: string
  noTransform: boolean
}

function keptHead(headers: readonly string[]): KeptHead {
  const head: KeptHead = { kept: [], hostEtag: '', lastModified: '', contentType: '', noTransform: false }
  let hasDate = false
  for (let i = 0; i < headers.length; i += 2) {
    const [name, value] = [headers[i] as string, headers[i + 1] as string]
    switch (name.toLowerCase()) {
      case 'content-length':
      case 'age':
      case 'accept-ranges':
        continue
      case 'vary': {
        const others = withoutCodings(value)
        if (others !== '') head.kept.push(name, others)
        continue
      }
      case 'etag':
        head.hostEtag = value
        continue
      case 'date':
        hasDate = true
        break
      case 'last-modified':
        head.lastModified = value
        break
      case 'content-type':
        head.contentType = value
        break
      case 'cache-control':
        head.noTransform ||= /no-transform/i.test(value)
    }
    head.kept.push(name, value)
  }
  // The time of arrival if the host does not send a date (RFC 9110 §6.6.1). It stays, and Age says how long ago that
  // was.
  if (!hasDate) head.kept.push('Date', new Date().toUTCString())
  return head
}

/** The edge does the encoding, and adds its own `Vary`. */
const withoutCodings = (vary: string): string =>
  vary
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name.toLowerCase() !== 'accept-encoding')
    .join(', ')

/** Creates an entry from a complete response. */
export function createEntry(draft: Draft): Entry {
  const { body, status, variantOf, varyKey = nothing } = draft
  const { kept, hostEtag, lastModified, contentType, noTransform } = keptHead(draft.headers)
  const compressible = !noTransform && isCompressible(contentType, body.length)
  if (compressible) kept.push('Vary', 'Accept-Encoding')
  if (status === 200) kept.push('Accept-Ranges', 'bytes')
  const { key, siteId, tier, epoch, reason, renderer, lifetime } = draft
  const path = ownText(draft.path)
  const shownText = draft.shows ?? ''
  const shows = shownText === '' ? [] : ownText(shownText).split(' ')
  const headBytes = kept.reduce((sum, text) => sum + textBytes(text), textBytes(hostEtag))
  const headLength = kept.reduce((sum, text) => sum + text.length + ': '.length, MORE_HEAD_LENGTH)
  const made = { key, variantOf, varyKey, path, shows, siteId, tier, epoch, status, reason, renderer, lifetime }
  const bodiless = {
    ...made,
    headBytes,
    headLength,
    headers: kept,
    etag: hostEtag || draft.etag || (status === 200 ? `"${hash('sha1', body, 'base64url')}"` : ''),
    lastModified,
    hostEtag,
    contentType,
    allowsOrigin: allowsOrigin(kept, varyKey),
    isCompressible: compressible,
    asked: 1 << IDENTITY,
    madeAtMs: draft.nowMs - lifetime.ageMs,
    isRefreshing: false,
    retryAtMs: 0,
    hits: 0,
    bytes:
      OVERHEAD_BYTES +
      textBytes(key) +
      (variantOf === undefined ? 0 : textBytes(variantOf) + COPY_BYTES) +
      textBytes(path) +
      textBytes(shownText) +
      headBytes,
  }
  return withBody(bodiless, body)
}

type Head = Pick<Entry, 'headBytes' | 'headLength'>

/** Returns the bytes that another body of an entry counts, with its head. */
export const bodyBytes = (head: Head, body: Buffer): number =>
  roomBefore(head, body) + body.length + head.headBytes * 2 + PREPARED_BYTES

const roomBefore = ({ headLength }: Head, body: Buffer): number =>
  body.length > 0 && body.length <= MOST_JOINED_BYTES ? headLength : 0

/** Stores a body in a buffer that it shares with no other entry, with room for a head before it. */
export function putBody(entry: Entry, coding: number, body: Buffer): void {
  const room = roomBefore(entry, body)
  entry.rooms[coding] = room
  if (room === 0) {
    entry.bodies[coding] = ownBuffer(body)
    return
  }
  const whole = Buffer.allocUnsafeSlow(room + body.length)
  body.copy(whole, room)
  entry.bodies[coding] = whole.subarray(room)
}

/** An entry without its bodies, and without the state that belongs to them. */
export interface Bodiless extends Omit<Entry, 'places' | 'bodies' | 'rooms' | 'prepared' | 'readers'> {}

export function withoutBodies(entry: Entry): Bodiless {
  const { bodies: _bodies, rooms: _rooms, prepared: _prepared, readers: _readers, places: _places, ...rest } = entry
  return { ...rest, bytes: entry.bytes - sumOf(entry), asked: 1 << IDENTITY }
}

const sumOf = (entry: Entry): number => entry.bodies.reduce((sum, body) => sum + (body ? bodyBytes(entry, body) : 0), 0)

/** Returns an entry that is in no order yet. */
export function withBody(bodiless: Bodiless, body: Buffer): Entry {
  const unplaced: Omit<Entry, 'places'> = {
    ...bodiless,
    bodies: [undefined, undefined, undefined, undefined],
    rooms: [0, 0, 0, 0],
    prepared: [undefined, undefined, undefined, undefined],
    readers: 0,
    bytes: bodiless.bytes + bodyBytes(bodiless, body),
    isRefreshing: false,
  }
  const entry = unplaced as Entry & { places: readonly [Place<Entry>, Place<Entry>] }
  entry.places = [newPlace(entry), newPlace(entry)]
  putBody(entry, IDENTITY, body)
  return entry
}

/**
 * Another coding of the same body is another representation, which a strong validator must distinguish (RFC 9110
 * §8.8.3.3).
 */
export const etagOf = (entry: Entry, coding: number): string =>
  coding === IDENTITY || entry.etag === '' || entry.etag.startsWith('W/') ? entry.etag : `W/${entry.etag}`

/** Returns the part of a validator that the weak comparison uses (RFC 9110 §8.8.3.2). */
export const opaque = (etag: string): string => (etag.startsWith('W/') ? etag.slice(2) : etag)

export const ageSeconds = (entry: Entry, nowMs: number): number =>
  Math.max(0, Math.floor((nowMs - entry.madeAtMs) / 1000))

/**
 * Returns the headers of a complete answer with this body. They are built once per second instead of once per request:
 * callers get the same array, so they must use it before the next call.
 * @param how for `Cache-Status` (RFC 9211)
 */
export function preparedHeaders(entry: Entry, coding: number, how: string, nowMs: number): Prepared {
  const second = ageSeconds(entry, nowMs)
  const before = entry.prepared[coding]
  if (before && before.second === second && before.how === how) return before
  const body = entry.bodies[coding] as Buffer
  const ttl = Math.ceil((entry.madeAtMs + entry.lifetime.freshMs - nowMs) / 1000)
  const headers = [...entry.headers]
  if (coding !== IDENTITY) headers.push('Content-Encoding', codings[coding] as string)
  if (entry.etag) headers.push('ETag', etagOf(entry, coding))
  headers.push('Age', String(second), 'Cache-Status', `Stead; ${how}; ttl=${ttl}`)
  headers.push('Content-Length', String(body.length), 'X-Request-Id', '')
  const prepared = { second, how, headers }
  entry.prepared[coding] = prepared
  return prepared
}
