import type { IncomingMessage, ServerResponse } from 'node:http'
import { sendPage } from './status-pages.ts'

/*
 * The database of a site in a browser. The host checks links and sessions, and no code of the site takes part. Adminer
 * runs in the site's own PHP, and can access the same as that PHP.
 */

export const DATABASE_ADMIN_PATH = '/stead-database/'
export const DATABASE_TOKEN_FIELD = 'token'
/** The path as PHP sees it. See `tasks/database-admin.php`. */
export const DATABASE_ADMIN_SCRIPT = '/stead/database-admin.php'
const COOKIE = 'stead_database'
const SESSION_SECONDS = 3600

export type AdminRefusal = 'unknown' | 'used' | 'late' | 'over'

export interface AdminVisit {
  readonly userAgent: string
  readonly remoteAddress: string
}

export interface DatabaseAdmin {
  /** Starts a session for the first visitor who opens a link. */
  open(siteId: number, token: string, visit: AdminVisit): Promise<{ session: string } | AdminRefusal>
  /** @returns the reason for a refusal, or undefined */
  mayEnter(siteId: number, session: string, visit: AdminVisit): Promise<AdminRefusal | undefined>
}

/** Pages by the reason for refusing access, as numbers in `status-pages.ts`. */
export const REFUSED: Readonly<Record<AdminRefusal, number>> = { unknown: 4031, used: 4032, late: 4033, over: 4034 }

/** Returns whether a request is for the database, and not for the site. */
export const isDatabaseVisit = ({ url = '' }: Pick<IncomingMessage, 'url'>): boolean =>
  url.startsWith(DATABASE_ADMIN_PATH)

/**
 * Admits visitors with a session, and starts one for a link.
 * @returns whether Adminer must run; otherwise the response is complete
 */
export async function enterDatabase(
  admin: DatabaseAdmin,
  siteId: number,
  { request, response, visit }: { request: IncomingMessage; response: ServerResponse; visit: AdminVisit },
): Promise<boolean> {
  const query = new URLSearchParams((request.url ?? '').split('?', 2)[1])
  const token = query.get(DATABASE_TOKEN_FIELD)
  if (token !== null && request.method === 'GET') {
    const opened = await admin.open(siteId, token, visit)
    if (typeof opened === 'string') sendPage(request, response, REFUSED[opened])
    else begin(response, opened.session)
    return false
  }
  const session = sessionOf(request)
  const refusal = session === undefined ? 'unknown' : await admin.mayEnter(siteId, session, visit)
  if (refusal === undefined) return true
  sendPage(request, response, REFUSED[refusal])
  return false
}

function begin(response: ServerResponse, session: string): void {
  // biome-ignore format: pairs
  response.writeHead(302, [
    'X-Stead-Renderer', 'static', 'Location', DATABASE_ADMIN_PATH, 'Content-Length', '0', 'Cache-Control', 'no-store, private',
    'Referrer-Policy', 'no-referrer',
    'Set-Cookie', `${COOKIE}=${session}; path=${DATABASE_ADMIN_PATH}; max-age=${SESSION_SECONDS}; HttpOnly; SameSite=Lax`,
  ])
  response.end()
}

function sessionOf({ headers }: IncomingMessage): string | undefined {
  const found = new RegExp(`(?:^|;\\s*)${COOKIE}=([\\w-]{10,100})(?:;|$)`).exec(headers.cookie ?? '')
  return found?.[1]
}
