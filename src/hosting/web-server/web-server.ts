import { timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { isBusy } from '../../platform/db/database.ts'
import { isLost } from '../../platform/db/open-fault.ts'
import type { Tree } from '../htaccess/asked.ts'
import type { Edits, ErrorDocument, Htaccess, Obeyed } from '../htaccess/htaccess.ts'
import type { PhpVisitOptions, VisitorRequest } from '../php/pool/pool.ts'
import {
  PhpAbandoned,
  PhpBodyTooLarge,
  PhpBusy,
  PhpCrashed,
  PhpDisplaced,
  type PhpResponse,
  PhpTimeout,
  PhpWaitsForItself,
} from '../php/runtime.ts'
import { SiteUnavailable } from '../site-database/site-database.ts'
import { type PartDoor, UPLOAD_HEADER } from '../site-imports/upload-parts.ts'
import { AlreadyBegun, BegunRequests } from './begun-requests.ts'
import { DATABASE_ADMIN_SCRIPT, type DatabaseAdmin, enterDatabase, isDatabaseVisit } from './database-admin.ts'
import type { FirstPages } from './first-pages.ts'
import type { HeldAnswers } from './held-answers.ts'
import type { HostedSite, PhpHandler } from './hosted-site.ts'
import { type Location, locate, look } from './locate.ts'
import { answerLogin, type LogIn, loginToken } from './login-links.ts'
import { acceptOwn } from './own-requests.ts'
import { BadPhpResponse, sendPhpResponse } from './php-response.ts'
import type { ServedFiles } from './served-files.ts'
import { sendFile } from './static-file.ts'
import {
  CLOSED,
  ELSEWHERE,
  OWN_WAIT,
  sendMissing,
  sendPage,
  sendStatus,
  UNAVAILABLE,
  UNKNOWN_NOW,
} from './status-pages.ts'

/** It is not known yet which sites are on this host. */
export class HostStarting extends Error {
  override readonly name = 'HostStarting'
}

/** The server of the site's database does not respond. */
class DatabaseAway extends Error {
  override readonly name = 'DatabaseAway'
}

/** The dependencies of a host's web server. */
export interface WebServerOptions {
  /**
   * Returns undefined for a site that is not on this host, or not in the site directory with this number. @throws
   * SiteUnavailable when it must not be served, HostStarting
   */
  readonly siteById: (siteId: number, place?: number) => Promise<HostedSite | undefined>
  readonly php: PhpHandler
  /** PHP's responses to visitors who read slowly. */
  readonly answers: HeldAnswers
  /** Front pages that new sites have already rendered. */
  readonly firstPages: Pick<FirstPages, 'take'>
  /** Remembers files that edges keep, if something checks them afterwards. */
  readonly servedFiles?: Pick<ServedFiles, 'note'>
  /** A request with this `x-stead-key` comes from an edge, which is trusted about the visitor. */
  readonly hostKey: string
  readonly log: { warn(facts: object, message: string): void; error(facts: object, message: string): void }
  /**
   * Returns the site directory of the site that itself sent a request to the edge, by the edge's `x-stead-peer`, or
   * undefined for visitors.
   */
  readonly directoryOfSender?: (peer: string) => string | undefined
  /** The port of the addresses at which visitors reach sites over https. */
  readonly httpsPort: number
  /** The largest request body that a site accepts. */
  readonly mostBodyBytes: number
  /** Handles links that log a browser in once. */
  readonly logIn?: LogIn
  /** Admits users to the databases of sites. Without it, nobody has access. */
  readonly databaseAdmin?: DatabaseAdmin | undefined
  /** Returns whether the server of the site's database does not respond. WordPress only reports a 500. */
  readonly isDatabaseAway?: (site: HostedSite) => Promise<boolean>
  /** Reads `.htaccess` files. Without it, those of sites are ignored. */
  readonly htaccess?: Htaccess | undefined
  /** Accepts parts of uploads from the API. */
  readonly uploads?: PartDoor | undefined
  /** Waits until the site's changes so far are on their way to the edges, and returns the number of the purge. */
  readonly changesSettled?: (siteId: number) => Promise<number> | undefined
}

interface Serving extends WebServerOptions {
  readonly begun: BegunRequests
}

/**
 * Answers the edge's requests for the sites of this host: files directly, everything else with the site's PHP.
 * @returns a server that does not listen yet
 */
export function createWebServer(options: WebServerOptions): Server {
  const key = Buffer.from(options.hostKey)
  const serving = { ...options, begun: new BegunRequests() }
  const server = createServer(
    {
      // The edge's own limit, and space for what it adds.
      maxHeaderSize: 65_536,
      // The time between two requests of the edge, which disconnects earlier than this.
      keepAliveTimeout: 65_000,
      headersTimeout: 30_000,
      // The edge decides how long a body may take, because it knows the visitor.
      requestTimeout: 0,
      shouldUpgradeCallback: () => false,
      // Without this, the server must read every request to its end, even one without a body.
      optimizeEmptyRequests: true,
    },
    (request, response) => {
      response.sendDate = false
      if (!hasKey(request, key)) {
        sendPage(request, response, 403)
        return
      }
      answer(serving, request, response).catch((error) => fail(options, request, response, error))
    },
  )
  return server
}

function hasKey(request: IncomingMessage, key: Buffer): boolean {
  const given = Buffer.from(String(request.headers['x-stead-key'] ?? ''))
  return given.length === key.length && timingSafeEqual(given, key)
}

async function answer(options: Serving, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (options.uploads && request.headers[UPLOAD_HEADER] !== undefined) {
    await options.uploads.answer(request, response)
    return
  }
  const site = await options.siteById(Number(request.headers['x-stead-site']), placeOf(request))
  if (!site) {
    dropRest(request)
    // Only for the edge, which looks for the site again.
    sendPage(request, response, ELSEWHERE, ['X-Stead-Elsewhere', '1'])
    return
  }
  if (site.isClosed) {
    dropRest(request)
    sendPage(request, response, CLOSED, RETRY_AFTER[503])
    return
  }
  // A message of the edge itself, without a request: a visitor has just opened a connection to the site.
  if (request.headers['x-stead-wake'] !== undefined) {
    options.php.wake(site)
    response.writeHead(204).end()
    return
  }
  const token = options.logIn && loginToken(request)
  if (options.logIn && token !== undefined) {
    const userAgent = request.headers['user-agent'] ?? ''
    answerLogin(response, await options.logIn(site, { token, userAgent, ...originOf(request) }))
    return
  }
  if (options.databaseAdmin && isDatabaseVisit(request)) {
    const visit = { userAgent: request.headers['user-agent'] ?? '', ...originOf(request) }
    if (await enterDatabase(options.databaseAdmin, site.siteId, { request, response, visit }))
      await runScript(options, site, DATABASE_ADMIN_SCRIPT, request, response)
    return
  }
  const ruled = await byRules(options, site, request)
  if (ruled.kind === 'end') {
    dropRest(request)
    await sendEnd(site, request, response, ruled)
  } else await answerPlace(options, site, request, response, ruled)
}

/** Returns the number of the site directory that the edge asks for, if it says so. */
const placeOf = ({ headers }: IncomingMessage): number | undefined => Number(headers['x-stead-place']) || undefined

interface Ruled {
  readonly place: Location
  readonly edits: Edits | undefined
  /** Set if rules have changed it. */
  readonly query: string | undefined
}

/** Returns where the request leads, according to the site's `.htaccess` files. */
function byRules(
  { htaccess }: WebServerOptions,
  site: HostedSite,
  request: IncomingMessage,
): Promise<Obeyed<Location>> {
  const { url, method, headers } = request
  const find = (target: string) => locate(site, target)
  if (!htaccess) return Promise.resolve({ kind: 'go', place: find(url as string), edits: undefined, query: undefined })
  const { remoteAddress, https } = originOf(request)
  const asked = {
    method: method as string,
    target: url as string,
    headers,
    address: remoteAddress,
    https,
    host: headers.host ?? '',
  }
  return htaccess.obey(site, asked, treeOf(site), find)
}

/** Returns the contents of a site's web root. */
const treeOf = (site: HostedSite): Tree => ({
  kindOf(parts) {
    const found = parts.length === 0 ? undefined : look(site, parts)
    found?.close()
    if (parts.length === 0) return { kind: 'directory', bytes: 0 }
    return found && { kind: found.kind, bytes: found.stats.size }
  },
})

/** Sends the result of rules: a refusal or a redirect. */
async function sendEnd(
  site: HostedSite,
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, document }: { status: number; headers: readonly string[]; document: ErrorDocument | undefined },
): Promise<void> {
  if (document?.kind === 'address') {
    sendStatus(request, response, 302, ['Location', document.address, ...headers])
    return
  }
  if (document?.kind === 'text') {
    sendStatus(request, response, status, headers, Buffer.from(document.text))
    return
  }
  const page = document && locate(site, document.path)
  if (page?.kind !== 'file') {
    sendStatus(request, response, status, headers)
    return
  }
  try {
    const body = page.found.stats.size > MOST_ERROR_BYTES ? undefined : page.found.read(0, page.found.stats.size)
    sendStatus(request, response, status, headers, body)
  } finally {
    page.found.close()
  }
}

/** The size limit of a page that a site shows with a refusal. */
const MOST_ERROR_BYTES = 256 << 10

async function answerPlace(
  options: Serving,
  site: HostedSite,
  request: IncomingMessage,
  response: ServerResponse,
  { place, edits, query }: Ruled,
): Promise<void> {
  switch (place.kind) {
    case 'file':
      try {
        options.servedFiles?.note(site, pathOf(request.url as string), place.found.stats)
        await sendFile(request, response, place.found, place.name, edits)
      } finally {
        place.found.close()
      }
      return
    case 'script': {
      const made = isForAll(site, request) ? await options.firstPages.take(site.siteId) : undefined
      if (made) await send(options, site, request, response, edited(made, edits))
      else await answerScript(options, site, inWebRoot(place.script), request, response, { edits, query })
      return
    }
    case 'redirect':
      // 308 keeps the method. All browsers handle 301 for reads.
      redirect(request, response, place.location)
      return
    case 'refused':
      if (CRON.test(request.url as string) && isSiteItself(options, site, request))
        await answerScript(options, site, OWN_CRON_SCRIPT, request, response)
      else sendPage(request, response, place.status)
      return
    case 'missing':
      sendMissing(request, response)
  }
}

/** Returns the path of an address of the site, without its query. */
const pathOf = (target: string): string => target.split('?', 1)[0] as string

const edited = (result: PhpResponse, edits: Edits | undefined): PhpResponse =>
  edits ? { ...result, headers: edits.headers(result.headers, result.status) } : result

/** Returns whether an edge requests the front page, at the site's own address, without facts about a visitor. */
const isForAll = ({ address }: HostedSite, { method, url, headers }: IncomingMessage): boolean =>
  headers['x-stead-for-all'] !== undefined &&
  method === 'GET' &&
  url === '/' &&
  headers.host === address &&
  headers['x-forwarded-proto'] !== 'https'

/**
 * Matches wp-cron.php. The host triggers events, so it is not run for visitors. But WordPress requests it to check
 * whether it can reach itself.
 */
const CRON = /^(?:\/[\w-]+)?\/wp-cron\.php(?:\?|$)/
const OWN_CRON_SCRIPT = '/stead/own-cron.php'

const isSiteItself = (
  { directoryOfSender }: WebServerOptions,
  site: HostedSite,
  { headers }: IncomingMessage,
): boolean => directoryOfSender?.(String(headers['x-stead-peer'])) === site.siteDirectory

async function answerScript(
  options: Serving,
  site: HostedSite,
  script: string,
  request: IncomingMessage,
  response: ServerResponse,
  ruled: Partial<Ruled> = {},
): Promise<void> {
  const isOwn = isSiteItself(options, site, request)
  if (isOwn && request.headers['stead-no-wait'] !== undefined)
    await acceptOwn(options, site, visitorRequest(request, script, options.httpsPort, ruled.query), response)
  else await runScript(options, site, script, request, response, { isOwn }, ruled)
}

function redirect(request: IncomingMessage, response: ServerResponse, location: string): void {
  const reads = request.method === 'GET' || request.method === 'HEAD'
  // biome-ignore format: pairs
  response.writeHead(reads ? 301 : 308, [
    'X-Stead-Renderer', 'static', 'Location', location, 'Content-Length', '0', 'Cache-Control', 'public, max-age=300',
  ])
  response.end()
}

async function runScript(
  options: Serving,
  site: HostedSite,
  script: string,
  request: IncomingMessage,
  response: ServerResponse,
  visit: PhpVisitOptions = {},
  { edits, query }: Partial<Ruled> = {},
): Promise<void> {
  if (Number(request.headers['content-length'] ?? 0) > options.mostBodyBytes) throw new PhpBodyTooLarge('announced')
  const look = request.headers['x-stead-look']
  if (look === 'light' || (look === 'page' && !options.php.isAwake(site))) {
    // The monitoring of an edge: the site is served here, and need not wake.
    response.writeHead(204, ['X-Stead-Renderer', 'static', 'Cache-Control', 'no-store']).end()
    return
  }
  const gone = new AbortController()
  const id = String(request.headers['x-request-id'] ?? '')
  let alive: NodeJS.Timeout | undefined
  response.once('close', () => {
    clearInterval(alive)
    if (response.writableFinished) return
    if (!response.headersSent) options.begun.breaks(id)
    gone.abort()
  })
  // The edge considers a host dead that sends nothing for longer.
  const onLong = () => {
    alive = setInterval(() => !response.headersSent && response.writeProcessing(), STILL_AT_WORK_MS)
  }
  const asked = visitorRequest(request, script, options.httpsPort, query)
  const result = await options.begun
    .run(id, () => options.php.handle(site, asked, gone.signal, { ...visit, isLook: look !== undefined, onLong }))
    .finally(() => {
      clearInterval(alive)
    })
  if (result.status === 500 && (await options.isDatabaseAway?.(site))) {
    result.body.resume()
    throw new DatabaseAway()
  }
  const purge = (await options.changesSettled?.(site.siteId)) ?? 0
  await send(options, site, request, response, edited(result, edits), purge)
}

const send = (
  { answers }: WebServerOptions,
  { siteId }: HostedSite,
  { method }: IncomingMessage,
  response: ServerResponse,
  result: PhpResponse,
  purge = 0,
): Promise<void> => sendPhpResponse(response, result, { siteId, method: method as string, purge }, answers)

/** How often the edge is informed that an administrator's page is still being rendered. */
const STILL_AT_WORK_MS = 30_000

/** Returns the path as PHP sees it. */
const inWebRoot = (script: string): string => `/wordpress${script}`

/** Returns the edge's facts about the visitor, and the visitor's own headers. */
function visitorRequest(request: IncomingMessage, script: string, httpsPort: number, query?: string): VisitorRequest {
  const { headers } = request
  const origin = originOf(request)
  const host = headers.host ?? ''
  return {
    method: request.method as string,
    path: request.url as string,
    ...(query !== undefined && { query }),
    script,
    headers: headersForPhp(request.rawHeaders),
    ...bodyOf(request),
    ...origin,
    // The visitor chose the port, and cached pages might show it.
    host: origin.https ? `${host.replace(/:\d+$/, '')}:${httpsPort}` : host,
  }
}

/** Returns the origin of a visitor, according to the edge. */
const originOf = ({ headers }: IncomingMessage) => ({
  remoteAddress: String(headers['x-forwarded-for'] ?? '').split(',', 1)[0] as string,
  https: headers['x-forwarded-proto'] === 'https',
})

/** `proxy` would become HTTP_PROXY in PHP's environment. */
const NOT_FOR_PHP = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'te',
  'trailer',
  'upgrade',
  'expect',
  'proxy',
])

function headersForPhp(raw: readonly string[]): string[] {
  const headers: string[] = []
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] as string
    const lower = name.toLowerCase()
    if (!NOT_FOR_PHP.has(lower) && !lower.startsWith('x-stead-')) headers.push(name, raw[i + 1] as string)
  }
  return headers
}

/**
 * Returns the body, separated from its connection. A reader that stops early (the body is too large, the disk is full)
 * destroys what it reads. That must not be the connection that carries the answer to the visitor.
 */
function bodyOf(request: IncomingMessage): Pick<VisitorRequest, 'body' | 'announcedBytes'> {
  const { headers } = request
  const announcedBytes = headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : undefined
  if (announcedBytes === 0) return { body: null }
  const body = Readable.from(request.iterator({ destroyOnReturn: false }), { objectMode: false, highWaterMark: 1 })
  return { body, announcedBytes }
}

/** The most that is read of an unwanted body, so that the edge can read the answer and the connection stays usable. */
const MOST_DROPPED_BYTES = 16 << 20
const MOST_DROPPED_MS = 10_000

/** Drops the rest of a body. Closes the connection if the rest is too long, or does not arrive. */
function dropRest(request: IncomingMessage): void {
  if (request.complete || request.destroyed) return
  const late = setTimeout(() => request.socket.destroy(), MOST_DROPPED_MS).unref()
  request.once('close', () => clearTimeout(late))
  let bytes = 0
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > MOST_DROPPED_BYTES) request.socket.destroy()
  })
  request.resume()
}

function fail(options: WebServerOptions, request: IncomingMessage, response: ServerResponse, error: Error): void {
  dropRest(request)
  if (error instanceof PhpAbandoned || response.destroyed) return
  const facts = {
    err: error,
    siteId: Number(request.headers['x-stead-site']),
    requestId: request.headers['x-request-id'],
  }
  if (response.headersSent) {
    options.log.warn(facts, 'answer broken off')
    response.destroy()
    return
  }
  const status = statusOf(error)
  if (status === 500) options.log.error(facts, 'request failed')
  else if (status !== 413 && status !== UNAVAILABLE && status !== OWN_WAIT)
    options.log.warn(facts, 'the request could not be handled now')
  sendPage(request, response, status, RETRY_AFTER[status])
}

const RETRY_AFTER: Record<number, string[]> = {
  503: ['Retry-After', '5'],
  [UNKNOWN_NOW]: ['Retry-After', '5'],
  [UNAVAILABLE]: ['Retry-After', '300'],
}

/** Returns the number of the error's page in `status-pages.ts`. */
function statusOf(error: Error): number {
  if (error instanceof SiteUnavailable) return UNAVAILABLE
  if (error instanceof PhpWaitsForItself) return OWN_WAIT
  if (error instanceof PhpBusy || error instanceof PhpDisplaced) return 503
  if (error instanceof DatabaseAway || error instanceof HostStarting || isLost(error) || isBusy(error))
    return UNKNOWN_NOW
  if (error instanceof PhpTimeout) return 504
  if (error instanceof PhpCrashed || error instanceof BadPhpResponse || error instanceof AlreadyBegun) return 502
  return error instanceof PhpBodyTooLarge ? 413 : 500
}
