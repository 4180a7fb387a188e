import type { Client } from '../platform/http/client/client-address.ts'
import { framingFault } from '../platform/http/request/framing.ts'
import { headerOf } from '../platform/http/request/raw-headers.ts'
import { Http2Request } from './http2/http2-request.ts'
import { parseAuthority } from './routing/host-name.ts'
import type { Route } from './routing/route.ts'
import type { VisitRequest } from './visit-request.ts'

/** What the host tells only the edge about a response. */
export interface HostNotes {
  /** `static` or `php`. */
  readonly renderer: string
  /** The site does not want this page stored. */
  readonly isPrivate: boolean
  /** A page cache of the site itself made it earlier. */
  readonly isBrief: boolean
  /** The number of the purge that the request caused, or 0. */
  readonly purgeSeq: number
  /** Paths of what the answer shows, separated by spaces. Purges of these concern it, whatever its own address. */
  readonly shows: string
}

/** The parts of the response to a visitor that the edge uses, over any HTTP version. */
export interface VisitResponse {
  statusCode: number
  /** HTTP/1: other requests may follow on this connection. */
  shouldKeepAlive: boolean
  readonly headersSent: boolean
  readonly destroyed: boolean
  readonly closed: boolean
  readonly writableLength: number
  /** The edge has written all of it. */
  readonly writableEnded: boolean
  readonly writableFinished: boolean
  writeHead(status: number, reason: string, headers: string[]): this
  writeHead(status: number, headers: string[]): this
  writeContinue(): void
  write(chunk: Buffer): boolean
  end(body?: Buffer): unknown
  destroy(): unknown
  once(event: 'close' | 'drain', listener: () => void): unknown
}

/** One request of a visitor on its way through the edge. */
export interface Visit {
  /** Value of `X-Request-Id`, on the response and towards the host. */
  readonly id: string
  readonly request: VisitRequest
  readonly response: VisitResponse
  readonly method: string
  /** Path and query as the visitor sent them. */
  readonly target: string
  /** `Host` for the site: lower case, with the visitor's port. */
  readonly host: string
  readonly hostName: string
  readonly client: Client
  /** Milliseconds of the monotonic clock. */
  readonly startedAtMs: number
  /** The client waits for `100 Continue` before it sends its body. */
  readonly expectsContinue: boolean
  /** Undefined for an unknown host name. */
  route: Route | undefined
  /** They watch (and may change) the host's answer, such as a cache that stores it. */
  observers: ResponseObserver[] | undefined
  /** Called once when the visitor leaves before the response is complete. */
  abandon: (() => void) | undefined
  /** Called when the response was sent or the visitor has left: releases what the response held. */
  release: (() => void) | undefined
  /** What the access log says about the response. */
  readonly outcome: Outcome
}

/** The outcome of a visit, for the log. */
export interface Outcome {
  /** Bytes of the body passed to the connection. */
  sentBytes: number
  /** What made the body: `edge`, `static`, or `php`. */
  renderer: string
  /** The cache status, such as `HIT`; `''` if the cache was not involved. */
  cached: string
  /** `Content-Type` of the response. Empty if it has none. */
  contentType: string
}

/**
 * Watches a response of the site's host. Calls come in order: `head`, `data`…, then `end` or `abort`. `abort` can also
 * come without `head`. `notes` are what the host tells only the edge.
 */
export interface ResponseObserver {
  /** `headers` are raw pairs, flat, and may be changed in place before they are sent. */
  head?(status: number, headers: string[], notes: HostNotes): void
  data?(chunk: Buffer): void
  end?(): void
  abort?(): void
}

/** An answer of the edge itself. */
export interface Answer {
  readonly status: number
  readonly reason?: string
  /** Raw pairs, flat. `Content-Length`, `X-Request-Id`, and `Date` are added. */
  readonly headers: readonly string[]
  /** Omitted by the sender for HEAD. */
  readonly body?: Buffer
  /** Closes the connection after the answer. */
  readonly close?: boolean
}

/** Returned by a rule that has taken over the visit: it sends the response itself. */
export const handled = Symbol('handled')

export type Decision = Answer | typeof handled | undefined

/** A rule answers a visit or lets it pass (undefined). */
export type Rule = (visit: Visit) => Decision | Promise<Decision>

/** The destination of a request. */
export interface Destination {
  readonly host: string
  readonly hostName: string
  readonly target: string
}

/** Why a request is malformed. */
export interface Refusal {
  readonly status: 400 | 413 | 414 | 421 | 501 | 505
  readonly reason: string
  /** Its only fault is that it names no host. */
  readonly isNameless?: true
}

/**
 * Reads the destination of a request: `Host` and target, or an absolute-form target, which overrules `Host` (RFC 9112
 * §3.2.2).
 */
export function readDestination(request: VisitRequest, maxUrlBytes: number): Destination | Refusal {
  const url = request.url as string
  if (url.length > maxUrlBytes) return { status: 414, reason: 'The address is too long.' }
  const fault = request instanceof Http2Request ? hostFault(request) : framingFault(request)
  if (fault) return fault
  let host = headerOf(request.rawHeaders, 'host')
  let target = url
  if (!url.startsWith('/')) {
    const absolute = /^https?:\/\/([^/?#]*)([^#]*)/i.exec(url)
    if (!absolute) return { status: 400, reason: 'The request does not name a page.' }
    host = absolute[1] as string
    target = (absolute[2] as string).startsWith('/') ? (absolute[2] as string) : `/${absolute[2]}`
  }
  const authority = host === undefined ? undefined : parseAuthority(host)
  if (!authority) return { status: 400, reason: 'The request does not name a valid host.', isNameless: true }
  return { ...authority, target }
}

/** `Host` must equal `:authority` (RFC 9113 §8.3.1), and a target must be a path. */
function hostFault({ authority, headers, url }: Http2Request): Refusal | undefined {
  if (!url.startsWith('/')) return { status: 400, reason: 'The request does not name a page.' }
  if (authority === undefined || headers.host === undefined) return undefined
  if (parseAuthority(authority)?.host === parseAuthority(headers.host)?.host) return undefined
  return { status: 400, reason: 'The request names more than one host.' }
}

/** Returns whether the request carries a body (RFC 9112 §6: one of two headers frames it). */
export function hasBody(request: VisitRequest): boolean {
  const { headers } = request
  if (headers['transfer-encoding'] !== undefined) return true
  const length = headers['content-length']
  return length !== undefined && length !== '0'
}
