import type { IncomingHttpHeaders } from 'node:http'
import { PLAIN_SESSION, SECURE_SESSION } from '../../platform/http/client/session-cookies.ts'

const isSecure = (origin: string): boolean => origin.startsWith('https:')

/** @param origin of the API, as the browser says it */
export function sessionCookie(origin: string, token: string, maxAgeSeconds: number): string {
  const name = isSecure(origin) ? SECURE_SESSION : PLAIN_SESSION
  const secure = isSecure(origin) ? '; Secure' : ''
  return `${name}=${token}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAgeSeconds}${secure}`
}

export const endedCookie = (origin: string): string => sessionCookie(origin, '', 0)

/** The token of a session in a request's cookies. Over https only that of the name that nobody else can set. */
export function sessionTokenOf(headers: IncomingHttpHeaders, origin: string): string | undefined {
  const name = isSecure(origin) ? SECURE_SESSION : PLAIN_SESSION
  for (const pair of (headers.cookie ?? '').split(';')) {
    const [key, value] = pair.trim().split('=')
    if (key === name && value) return value
  }
  return undefined
}

/**
 * Whether a page of this very origin has sent the request, as its browser says. `SameSite` alone is not enough: sites of customers may stand
 * below the same registrable domain. Browsers say `Sec-Fetch-Site` over https and on loopback, and `Origin` with all that changes
 * something. Where they say neither it is a reading, or our own page says so in a header, which no other page can send without asking first.
 */
export function isFromHere(headers: IncomingHttpHeaders, origin: string, onlyReads: boolean): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin'
  if (headers.origin !== undefined) return headers.origin === origin
  return onlyReads || headers['stead-panel'] !== undefined
}
