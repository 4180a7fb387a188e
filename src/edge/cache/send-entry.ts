import type { TLSSocket } from 'node:tls'
import { siteHeaderLines, siteHeaders } from '../proxy/site-headers.ts'
import type { Visit, VisitResponse } from '../visit.ts'
import type { RequestFacts } from './decide/request-facts.ts'
import { acceptedCodings, type Compression, IDENTITY } from './store/encodings.ts'
import { bodyBytes, type Entry, etagOf, opaque, preparedHeaders, putBody } from './store/entry.ts'
import type { Memory } from './store/memory.ts'
import { joinHead, writeWholeHead } from './store/whole-head.ts'

/** How the cache produced an answer: `Cache-Status` (RFC 9211), and one word for the access log. */
export interface Use {
  readonly status: string
  readonly word: string
}

export const uses = {
  hit: { status: 'hit', word: 'HIT' },
  stale: { status: 'hit; detail=stale', word: 'STALE' },
  staleIfError: { status: 'fwd=stale; detail=host-failed', word: 'STALE' },
  validated: { status: 'fwd=stale; fwd-status=304; stored', word: 'MISS' },
  miss: { status: 'fwd=uri-miss; stored', word: 'MISS' },
  collapsed: { status: 'fwd=uri-miss; collapsed', word: 'HIT' },
} as const satisfies Record<string, Use>

/** Where compressed copies come from, and where entries are stored. */
export interface VariantMaker {
  readonly compression: Compression
  readonly memory: Memory
}

/** TLS encrypts a copy of each write, so larger bodies are written in pieces. */
const PIECE_BYTES = 65_536

/**
 * Ends a response with a body of an entry. The connection takes the rest from the entry as it drains, so that slow
 * visitors cost no copies (over TLS, at most a piece). While a visitor reads, the entry counts even if it has left the
 * table.
 * @param joined the body with its head before it, if both are sent as one
 */
export function endWithBody(visit: Visit, entry: Entry, body: Buffer, memory: Memory, joined = body): void {
  const { response, request } = visit
  visit.outcome.sentBytes += body.length
  if (body.length > PIECE_BYTES && (request.socket as TLSSocket).encrypted) endInPieces(response, body)
  else response.end(joined)
  if ((response.writableEnded && response.writableLength === 0) || response.closed) return
  memory.hold(entry)
  visit.release = () => memory.release(entry)
}

function endInPieces(response: VisitResponse, body: Buffer): void {
  let sent = 0
  const goOn = (): void => {
    while (sent + PIECE_BYTES < body.length) {
      if (response.destroyed) return
      const takesMore = response.write(body.subarray(sent, sent + PIECE_BYTES))
      sent += PIECE_BYTES
      if (takesMore) continue
      response.once('drain', goOn)
      return
    }
    response.end(body.subarray(sent))
  }
  goOn()
}

/** Answers a visit with a stored response: in full, in part, or with 304. */
export function sendEntry(visit: Visit, entry: Entry, facts: RequestFacts, use: Use, maker: VariantMaker): void {
  const { outcome, response } = visit
  const nowMs = performance.now()
  entry.hits++
  outcome.cached = use.word
  outcome.renderer = entry.renderer
  outcome.contentType = entry.contentType
  if (entry.status === 200) {
    if ((facts.ifNoneMatch !== '' || facts.ifModifiedSince !== '') && isCurrentCopy(entry, facts)) {
      sendNotModified(visit, entry, chooseCoding(entry, facts, maker), use, nowMs)
      return
    }
    if (facts.range !== '' && visit.method === 'GET' && sendPart(visit, entry, facts, use, maker, nowMs)) return
  }
  const coding = facts.range === '' ? chooseCoding(entry, facts, maker) : IDENTITY
  const body = entry.bodies[coding] as Buffer
  const prepared = preparedHeaders(entry, coding, use.status, nowMs)
  if (!writeWholeHead(response, entry, prepared, visit.id + siteHeaderLines(visit))) {
    const { headers } = prepared
    headers[headers.length - 1] = visit.id
    response.writeHead(entry.status, entry.reason, [...headers, ...siteHeaders(visit)])
  }
  if (visit.method === 'HEAD' || body.length === 0) {
    response.end()
    return
  }
  endWithBody(visit, entry, body, maker.memory, joinHead(response, entry, coding))
}

/** Returns the best coding that exists. Requests a better one for later visitors. */
function chooseCoding(entry: Entry, { acceptEncoding }: RequestFacts, maker: VariantMaker): number {
  if (!entry.isCompressible || acceptEncoding === '') return IDENTITY
  const accepted = acceptedCodings(acceptEncoding)
  const best = accepted[0]
  if (best === undefined) return IDENTITY
  if (entry.bodies[best]) return best
  if ((entry.asked & (1 << best)) === 0) askForCopy(entry, best, maker)
  for (const coding of accepted) if (entry.bodies[coding]) return coding
  return IDENTITY
}

function askForCopy(entry: Entry, coding: number, { compression, memory }: VariantMaker): void {
  const taken = compression.request(entry.bodies[IDENTITY] as Buffer, coding, (copy) => {
    memory.release(entry)
    if (copy && memory.grow(entry, bodyBytes(entry, copy))) putBody(entry, coding, copy)
  })
  if (!taken) return
  memory.hold(entry)
  entry.asked |= 1 << coding
}

/** If-None-Match takes precedence (RFC 9110 §13.2.2). It is compared weakly, so that it matches every coding. */
function isCurrentCopy(entry: Entry, { ifNoneMatch, ifModifiedSince }: RequestFacts): boolean {
  if (ifNoneMatch !== '') {
    if (entry.etag === '') return false
    const own = opaque(entry.etag)
    return ifNoneMatch.trim() === '*' || ifNoneMatch.split(',').some((tag) => opaque(tag.trim()) === own)
  }
  if (entry.lastModified === '') return false
  return Date.parse(entry.lastModified) <= Date.parse(ifModifiedSince)
}

/** Headers that describe a body are omitted from a 304 (RFC 9110 §15.4.5). */
const OF_THE_BODY = new Set(['content-type', 'content-length', 'content-encoding', 'accept-ranges', 'last-modified'])

function sendNotModified(visit: Visit, entry: Entry, coding: number, use: Use, nowMs: number): void {
  const whole = preparedHeaders(entry, coding, use.status, nowMs).headers
  whole[whole.length - 1] = visit.id
  const headers: string[] = []
  for (let i = 0; i < whole.length; i += 2)
    if (!OF_THE_BODY.has((whole[i] as string).toLowerCase())) headers.push(whole[i] as string, whole[i + 1] as string)
  visit.response.writeHead(304, [...headers, ...siteHeaders(visit)]).end()
}

/**
 * Sends one range of the uncompressed body. Several ranges, other units, and an outdated `If-Range` get the full body
 * (RFC 9110 §14).
 */
function sendPart(
  visit: Visit,
  entry: Entry,
  facts: RequestFacts,
  use: Use,
  { memory }: VariantMaker,
  nowMs: number,
): boolean {
  const match = /^\s*bytes\s*=\s*(\d*)\s*-\s*(\d*)\s*$/i.exec(facts.range)
  if (!match || (match[1] === '' && match[2] === '')) return false
  if (facts.ifRange !== '' && !isSameForRange(entry, facts.ifRange.trim())) return false
  const body = entry.bodies[IDENTITY] as Buffer
  const size = body.length
  const first = match[1] === '' ? Math.max(0, size - Number(match[2])) : Number(match[1])
  const last = match[1] === '' || match[2] === '' ? size - 1 : Math.min(Number(match[2]), size - 1)
  if (match[1] !== '' && match[2] !== '' && Number(match[2]) < Number(match[1])) return false
  const headers = [...preparedHeaders(entry, IDENTITY, use.status, nowMs).headers]
  headers[headers.length - 1] = visit.id
  headers.push(...siteHeaders(visit))
  const length = headers.indexOf('Content-Length') + 1
  if (first > last) {
    headers[length] = '0'
    headers.push('Content-Range', `bytes */${size}`)
    visit.response.writeHead(416, headers).end()
    return true
  }
  const part = body.subarray(first, last + 1)
  headers[length] = String(part.length)
  headers.push('Content-Range', `bytes ${first}-${last}/${size}`)
  visit.response.writeHead(206, headers)
  endWithBody(visit, entry, part, memory)
  return true
}

/** Compares strongly, or by the exact date (RFC 9110 §13.1.5). */
function isSameForRange(entry: Entry, condition: string): boolean {
  if (condition.startsWith('"')) return condition === etagOf(entry, IDENTITY)
  return !condition.startsWith('W/') && entry.lastModified !== '' && condition === entry.lastModified
}
