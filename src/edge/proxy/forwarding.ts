import type { Socket } from 'node:net'
import { plainAddress } from '../../platform/http/client/plain-address.ts'
import { withoutSessions } from '../../platform/http/client/session-cookies.ts'
import type { Route } from '../routing/route.ts'
import type { HostNotes, Visit } from '../visit.ts'
import { type CookieDomains, cookieForVisitor } from './set-cookie.ts'

/** Hop-by-hop headers (RFC 9110 §7.6.1), and older ones that proxies must not forward either. */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** Written by the edge itself, or (`expect`) answered by it. `proxy` would become HTTP_PROXY for PHP (httpoxy). */
const REPLACED = new Set([
  'host',
  'content-length',
  'expect',
  'forwarded',
  'x-real-ip',
  'x-request-id',
  'http2-settings',
  'proxy',
])

/**
 * PHP turns both `-` and `_` into `_`, so that `X_Forwarded_For` could impersonate the edge's header. nginx drops such
 * names by default, too.
 */
const PLAIN_NAME = /^[a-zA-Z0-9-]+$/

/** Returns whether hosts get a header as the visitor sent it. @param name in lower case */
export const isPassedOn = (name: string): boolean =>
  !HOP_BY_HOP.has(name) &&
  !REPLACED.has(name) &&
  !name.startsWith('x-forwarded-') &&
  !name.startsWith('x-stead-') &&
  PLAIN_NAME.test(name)

const peerOf = ({ remoteAddress, remotePort }: Socket): string => `${plainAddress(remoteAddress ?? '')} ${remotePort}`

/** The site of a request, and where the edge believes it to be. */
export type RoutedSite = Pick<Route, 'siteId' | 'place'>

/** The status and the header with which a host says that the site is not here, or not in this place. */
const MISDIRECTED = 421
const ELSEWHERE = 'x-stead-elsewhere'

/** Returns whether a host answers that the site is elsewhere. Visitors never get this answer. @param raw flat */
export const isElsewhere = (status: number, raw: readonly string[]): boolean =>
  status === MISDIRECTED && raw.some((text, i) => i % 2 === 0 && text.toLowerCase() === ELSEWHERE)

/** Tells the host that the monitoring asks, and for what. Visitors cannot send it. */
export const LOOK_HEADER = 'x-stead-look'

/**
 * What the monitoring asks for: `light`: whether the host serves the site, without PHP; `page`: a page of PHP, unless
 * the site sleeps; `wake`: a page in any case.
 */
export type MonitorLook = 'light' | 'page' | 'wake'

const lookOf = (said: unknown): MonitorLook => (said === 'page' || said === 'wake' ? said : 'light')

/** Returns the headers that the edge adds to each request for a host, raw and flat. */
export const edgeHeaders = (visit: Visit, { siteId, place }: RoutedSite, hostKey: string): string[] => [
  'host',
  visit.host,
  'x-stead-site',
  String(siteId),
  ...(place === undefined ? [] : ['x-stead-place', String(place)]),
  'x-stead-key',
  hostKey,
  'x-request-id',
  visit.id,
  // The other end of the connection, by which hosts recognize their own sites.
  'x-stead-peer',
  peerOf(visit.request.socket),
  'x-forwarded-for',
  visit.client.forwardedFor,
  'x-forwarded-proto',
  visit.client.scheme,
  'x-forwarded-host',
  visit.host,
  ...(visit.client.looksAt === 'every' ? [LOOK_HEADER, lookOf(visit.request.headers[LOOK_HEADER])] : []),
]

/**
 * Returns the headers of the request to the host, raw and flat: the visitor's without hop-by-hop ones, without those
 * that only the edge may send, and without sessions of the panel, plus the edge's own. No `Via`: edge and host are one
 * server to the visitor, and WordPress plugins take it as a sign of an anonymizing proxy.
 */
export function requestHeaders(visit: Visit, site: RoutedSite, hostKey: string): string[] {
  const { rawHeaders } = visit.request
  const out = edgeHeaders(visit, site, hostKey)
  const listed = connectionListed(rawHeaders)
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string
    const lower = name.toLowerCase()
    if (!isPassedOn(lower) || listed?.has(lower)) continue
    const value = rawHeaders[i + 1] as string
    const kept = lower === 'cookie' ? withoutSessions(value) : value
    if (kept !== '' || value === '') out.push(name, kept)
  }
  const length = visit.request.headers['content-length']
  if (length !== undefined) out.push('content-length', length)
  return out
}

/** A response of a host, as {@link responseHeaders} reads it. */
export interface HostResponse {
  readonly headers: string[]
  readonly notes: HostNotes
  /** Empty when there is none. */
  readonly contentType: string
}

/**
 * Returns the headers of the host's response for the visitor, raw and flat, and the host's notes to the edge
 * (`x-stead-*`), which are removed, as are cookies for other sites. `raw` is flat, as received. The caller adds the
 * request ID.
 */
export function responseHeaders(raw: readonly string[], domains: CookieDomains): HostResponse {
  const headers: string[] = []
  const listed = connectionListed(raw)
  const notes = { renderer: '', isPrivate: false, isBrief: false, purgeSeq: 0, shows: '' }
  let contentType = ''
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] as string
    const lower = name.toLowerCase()
    if (HOP_BY_HOP.has(lower) || lower === 'x-request-id' || listed?.has(lower)) continue
    if (lower.startsWith('x-stead-')) {
      if (lower === 'x-stead-renderer') notes.renderer = raw[i + 1] as string
      else if (lower === 'x-stead-cache') {
        notes.isPrivate = raw[i + 1] === 'private'
        notes.isBrief = raw[i + 1] === 'brief'
      } else if (lower === 'x-stead-shows') notes.shows = raw[i + 1] as string
      else if (lower === 'x-stead-purge') notes.purgeSeq = Number(raw[i + 1]) || 0
      continue
    }
    let value: string | undefined = raw[i + 1] as string
    if (lower === 'content-type') contentType = value
    else if (lower === 'set-cookie') value = cookieForVisitor(value, domains)
    if (value !== undefined) headers.push(name, value)
  }
  return { headers, notes, contentType }
}

/**
 * Returns the lower-case names that `Connection` headers list besides the usual options. Framing headers are never
 * dropped this way.
 */
export function connectionListed(raw: readonly string[]): Set<string> | undefined {
  let listed: Set<string> | undefined
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] as string
    if (name.length !== 10 || name.toLowerCase() !== 'connection') continue
    const value = (raw[i + 1] as string).toLowerCase()
    if (value === 'keep-alive' || value === 'close') continue
    listed ??= new Set()
    for (const option of value.split(',')) listed.add(option.trim())
    listed.delete('content-length')
  }
  return listed
}
