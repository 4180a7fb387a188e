import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import { type PlainPage, plainPage, representation } from '../../platform/plain-page.ts'

/** Not a real status: the site itself is lost, and only its owner can help. */
export const UNAVAILABLE = 5030
/** A site waits for itself. */
export const OWN_WAIT = 5031
/** An operation is changing the site. Edges answer the same before a request gets here. */
export const CLOSED = 5032
/**
 * It is currently unknown which sites are on this host, because the host is starting or its database is unavailable.
 */
export const UNKNOWN_NOW = 5033

/** The site is not on this host. Edges never pass this on. */
export const ELSEWHERE = 421

/** Visitors reach the database of a site only through a link; see `database-admin.ts`. */
const NO_ENTRY = 'Request a new link with the API.'

const TEXTS: Record<number, [title: string, text: string]> = {
  400: ['This address cannot be understood', 'It contains characters that are not allowed.'],
  403: ['This is not for visitors', 'The address exists, but it must not be opened directly.'],
  4031: ['A link is required', `Use your link in the browser that first opened it. ${NO_ENTRY}`],
  4032: ['This link was already used', `It works only once. ${NO_ENTRY}`],
  4033: ['This link has expired', `It must be opened within five minutes. ${NO_ENTRY}`],
  4034: ['This session has ended', `It lasts one hour. ${NO_ENTRY}`],
  401: ['A user name and a password are required', 'The owner of this site only admits visitors who have both.'],
  404: ['There is nothing at this address', 'Please check the spelling of the address.'],
  405: ['This method is not allowed', 'A file can only be read.'],
  410: ['There is no longer anything at this address', 'It was removed for good.'],
  413: ['Your request is too large', 'It is larger than this site accepts.'],
  416: ['This range does not exist', 'The file is shorter than the requested range.'],
  [ELSEWHERE]: ['This site is on another server', 'Please try again in a moment.'],
  500: ['Something went wrong', 'The server could not process the request. Please try again in a moment.'],
  502: ['Something went wrong', 'This site stopped working on the request. Please try again in a moment.'],
  503: ['This site is busy', 'Too many visitors are waiting already. Please try again in a moment.'],
  [UNAVAILABLE]: ['This site is not available', 'Its owner has been notified. Please try again later.'],
  [OWN_WAIT]: [
    'This site cannot wait for itself',
    'All of its PHP processes are busy with requests that wait for pages like this one.',
  ],
  [CLOSED]: ['This site is under maintenance', 'Maintenance work is in progress. Please try again in a few minutes.'],
  [UNKNOWN_NOW]: ['This site cannot be found right now', 'Please try again in a moment.'],
  504: [
    'This site took too long to answer',
    'The request was stopped, and its work may be half done. The PHP log of the site has an entry about it.',
  ],
}

const pages = new Map<number, PlainPage>(
  Object.entries(TEXTS).map(([status, [title, text]]) => [
    Number(status),
    // The first three digits.
    plainPage({ status: Number(status.slice(0, 3)), title, text }),
  ]),
)

/** Answers with the plain page of a status, which must be in the list above. */
export function sendPage(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  headers: readonly string[] = [],
): void {
  if (response.headersSent || response.destroyed) return
  const page = pages.get(status) as PlainPage
  const { contentType, body } = representation(page, request.headers.accept)
  // biome-ignore format: pairs
  response.writeHead(page.status, page.reason, [
    'X-Stead-Renderer', 'static', 'Content-Type', contentType, 'Content-Length', String(body.length),
    'Cache-Control', 'no-store', 'X-Content-Type-Options', 'nosniff', ...headers,
  ])
  response.end(request.method === 'HEAD' ? undefined : body)
}

const MISSING = Buffer.from('404 Not Found\n')

/** Answers briefly that a static file does not exist. */
export function sendMissing(request: IncomingMessage, response: ServerResponse): void {
  // biome-ignore format: pairs
  response.writeHead(404, [
    'X-Stead-Renderer', 'static', 'Content-Type', 'text/plain; charset=utf-8', 'Content-Length', String(MISSING.length),
    'Cache-Control', 'no-store', 'X-Content-Type-Options', 'nosniff',
  ])
  response.end(request.method === 'HEAD' ? undefined : MISSING)
}

/** Answers with any status, and a body of the site if there is one. @param own flat, raw pairs */
export function sendStatus(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  own: readonly string[],
  html?: Buffer,
): void {
  const page = pages.get(status)
  const isRedirect = status >= 300 && status < 400
  if (page && !html) {
    sendPage(request, response, status, own)
    return
  }
  const body = html ?? (isRedirect ? Buffer.alloc(0) : Buffer.from(`${status} ${STATUS_CODES[status] ?? ''}\n`))
  const type = html ? 'text/html; charset=utf-8' : 'text/plain; charset=utf-8'
  const says = (name: string) => own.some((text, i) => i % 2 === 0 && text.toLowerCase() === name)
  response.writeHead(status, [
    'X-Stead-Renderer',
    'static',
    ...(isRedirect ? [] : ['Content-Type', type]),
    ...(isRedirect || says('cache-control') ? [] : ['Cache-Control', 'no-store']),
    'Content-Length',
    String(body.length),
    ...own,
  ])
  response.end(request.method === 'HEAD' ? undefined : body)
}
