import type { IncomingMessage, ServerResponse } from 'node:http'
import type { HostedSite } from './hosted-site.ts'

/*
 * Links that log a browser in once. The host checks them, and no code of the site takes part, because a token that a
 * plugin could read would be valuable to it. WordPress only provides the cookies of a new session.
 */

export const LOGIN_PATH = '/wp-login.php'
export const LOGIN_TOKEN_FIELD = 'stead_login'
/** Tells `prepend.php` which reason the login page must show. */
const REASON_FIELD = 'stead_login_refused'

export type LoginRefusal = 'unknown' | 'used' | 'late' | 'browser' | 'failed'

export interface LoginVisit {
  readonly token: string
  readonly userAgent: string
  readonly remoteAddress: string
  readonly https: boolean
}

export interface LoginCookie {
  readonly name: string
  readonly value: string
  readonly path: string
  /** Empty for the exact host name only. */
  readonly domain: string
  readonly isSecure: boolean
}

export interface LoggedIn {
  readonly cookies: readonly LoginCookie[]
}

/** Decides the outcome of a visit to a link. */
export type LogIn = (site: HostedSite, visit: LoginVisit) => Promise<LoggedIn | LoginRefusal>

/**
 * Returns the token of a request that opens a link, or `undefined` for any other request. A preview (HEAD) opens
 * nothing.
 */
export function loginToken({ method, url = '' }: Pick<IncomingMessage, 'method' | 'url'>): string | undefined {
  const [path, query] = url.split('?', 2)
  if (method !== 'GET' || path !== LOGIN_PATH || !query) return undefined
  return new URLSearchParams(query).get(LOGIN_TOKEN_FIELD) ?? undefined
}

/**
 * Redirects to the dashboard with the cookies of a session, or to the login page with the reason. No cache stores
 * either.
 */
export function answerLogin(response: ServerResponse, outcome: LoggedIn | LoginRefusal): void {
  const isRefused = typeof outcome === 'string'
  const location = isRefused ? `${LOGIN_PATH}?${REASON_FIELD}=${outcome}` : '/wp-admin/'
  // biome-ignore format: pairs
  const headers = [
    'X-Stead-Renderer', 'static', 'Location', location, 'Content-Length', '0', 'Cache-Control', 'no-store, private',
    'Referrer-Policy', 'no-referrer',
  ]
  if (!isRefused) for (const cookie of outcome.cookies) headers.push('Set-Cookie', headerOf(cookie))
  response.writeHead(302, headers)
  response.end()
}

/** As WordPress sends its cookies. */
const headerOf = ({ name, value, path, domain, isSecure }: LoginCookie): string =>
  `${name}=${encodeURIComponent(value)}; path=${path}${domain && `; domain=${domain}`}${isSecure ? '; secure' : ''}; HttpOnly`
