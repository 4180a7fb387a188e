import type { IncomingHttpHeaders } from 'node:http'
import { PLAIN_SESSION, SECURE_SESSION } from '../../platform/http/client/session-cookies.ts'

const isSecure = (origin: string): boolean => origin.startsWith('https:')

/** @param origin of the API, as the browser sends it */
export function sessionCookie(origin: string, token: string, maxAgeSeconds: number): string {
  const name = isSecure(origin) ? SECURE_SESSION : PLAIN_SESSION
  const secure = isSecure(origin) ? '; Secure' : ''
  return `${name}=${token}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAgeSeconds}${secure}`
}

export const endedCookie = (origin: string): string => sessionCookie(origin, '', 0)

/**
 * Returns the token of a session in a request's cookies. Over https, only the cookie name that no other host can set
 * counts.
 */
export function sessionTokenOf(headers: IncomingHttpHeaders, origin: string): string | undefined {
  const name = isSecure(origin) ? SECURE_SESSION : PLAIN_SESSION
  for (const pair of (headers.cookie ?? '').split(';')) {
    const [key, value] = pair.trim().split('=')
    if (key === name && value) return value
  }
  return undefined
}

/**
 * Returns whether a page of this exact origin has sent the request, according to the browser. `SameSite` is not enough,
 * because customers' sites may be below the same registrable domain. Browsers send `Sec-Fetch-Site` over https and on
 * loopback, and `Origin` with all changes. Without either, the request must be a read, or carry a header that other
 * pages cannot send without a preflight.
 */
export function isFromHere(headers: IncomingHttpHeaders, origin: string, onlyReads: boolean): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin'
  if (headers.origin !== undefined) return headers.origin === origin
  return onlyReads || headers['stead-panel'] !== undefined
}
