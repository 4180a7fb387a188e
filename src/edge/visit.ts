import type { IncomingMessage, ServerResponse } from 'node:http'
import { framingFault } from '../platform/http/framing.ts'
import { headerOf } from '../platform/http/raw-headers.ts'
import type { Client } from './client-address.ts'
import type { HostNotes } from './forwarding.ts'
import { parseAuthority } from './host-name.ts'
import type { Route } from './route.ts'

/** One request of a visitor on its way through the edge. */
export interface Visit {
  /** Value of `X-Request-Id`, on the response and towards the host. */
  readonly id: string
  readonly request: IncomingMessage
  readonly response: ServerResponse
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
  /** Those who watch (and may change) what the host answers, such as a cache that stores it. */
  observers: ResponseObserver[] | undefined
  /** Called once when the visitor has gone before its response was complete. */
  abandon: (() => void) | undefined
  /** Called when the response is out or the visitor gone: gives back what the response has held. */
  release: (() => void) | undefined
  /** What the access log says about the response. */
  readonly outcome: Outcome
}

/** What became of a visit, for the log. */
export interface Outcome {
  /** Bytes of the body handed to the connection. */
  sentBytes: number
  /** Who made the body: `edge`, `static` or `php`. */
  renderer: string
  /** How the cache took part: `''` for not at all. */
  cached: string
  /** `Content-Type` of the response; empty: it has none. */
  contentType: string
}

/**
 * Watches a response of the site's host. Calls come in order: `head`, `data`…, then `end` or `abort`.
 * `abort` can also come without `head`. `notes` are what the host says to the edge alone.
 */
export interface ResponseObserver {
  /** `headers` are raw pairs, flat, and may be changed in place before they are sent. */
  head?(status: number, headers: string[], notes: HostNotes): void
  data?(chunk: Buffer): void
  end?(): void
  abort?(): void
}

/** An answer that the edge gives by itself. */
export interface Answer {
  readonly status: number
  readonly reason?: string
  /** Raw pairs, flat. `Content-Length`, `X-Request-Id` and `Date` are added. */
  readonly headers: readonly string[]
  /** Left out for HEAD by the sender. */
  readonly body?: Buffer
  /** Closes the connection after the answer. */
  readonly close?: boolean
}

/** What a rule returns that has taken the visit over: it sends the response itself. */
export const handled = Symbol('handled')

export type Decision = Answer | typeof handled | undefined

/** A rule answers a visit or lets it pass (undefined). */
export type Rule = (visit: Visit) => Decision | Promise<Decision>

/** Where a request wants to go. */
export interface Destination {
  readonly host: string
  readonly hostName: string
  readonly target: string
}

/** Why a request cannot be understood. */
export interface Refusal {
  readonly status: 400 | 413 | 414 | 501 | 505
  readonly reason: string
}

/**
 * Reads the destination of a request: `Host` and target, or an absolute-form target, which overrules `Host` (RFC 9112 §3.2.2).
 */
export function readDestination(request: IncomingMessage, maxUrlBytes: number): Destination | Refusal {
  const url = request.url as string
  if (url.length > maxUrlBytes) return { status: 414, reason: 'The address is too long.' }
  const fault = framingFault(request)
  if (fault) return fault
  let host = headerOf(request.rawHeaders, 'host')
  let target = url
  if (!url.startsWith('/')) {
    const absolute = /^https?:\/\/([^/?#]*)([^#]*)/i.exec(url)
    if (!absolute) return { status: 400, reason: 'The request does not say which page it wants.' }
    host = absolute[1] as string
    target = (absolute[2] as string).startsWith('/') ? (absolute[2] as string) : `/${absolute[2]}`
  }
  const authority = host === undefined ? undefined : parseAuthority(host)
  if (!authority) return { status: 400, reason: 'The request does not name a valid host.' }
  return { ...authority, target }
}

/** True when the request carries a body (RFC 9112 §6: it is framed by one of two headers). */
export function hasBody(request: IncomingMessage): boolean {
  const { headers } = request
  if (headers['transfer-encoding'] !== undefined) return true
  const length = headers['content-length']
  return length !== undefined && length !== '0'
}
