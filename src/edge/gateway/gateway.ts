import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from 'node:http'
import type { Server as SecureServer } from 'node:https'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import { LRUCache } from 'lru-cache'
import type { Budget } from '../../platform/budgets/budget.ts'
import { createClientReader, createTrust, type ReadClient } from '../../platform/http/client/client-address.ts'
import { plainAddress } from '../../platform/http/client/plain-address.ts'
import { readProxyHeaders } from '../../platform/http/client/proxy-protocol.ts'
import { RequestTurns } from '../../platform/http/request/turns.ts'
import { plainPage } from '../../platform/plain-page.ts'
import { defaultLimits, type EdgeLimits } from '../edge-limits.ts'
import { createHttp2Sessions, type Http2Sessions } from '../http2/http2-sessions.ts'
import { pageAnswer, sendAnswer } from '../page-answer.ts'
import { answerProbe, isProbe, PROBE_PATH } from '../probe.ts'
import { type ProxyContext, passToHost } from '../proxy/proxy.ts'
import { createUpstreams, type Upstreams } from '../proxy/upstreams.ts'
import { type AccessEntry, accessEntry } from '../records/access-log.ts'
import type { Route, Routes } from '../routing/route.ts'
import { edgeRules } from '../rules/index.ts'
import { refusedMethodAnswer } from '../rules/refused-methods.ts'
import { createMisdirected, type IsMisdirected } from '../tls/misdirected.ts'
import type { SecureContexts } from '../tls/secure-contexts.ts'
import { createSecureServer, type HandshakeMetrics, trackSockets } from '../tls/secure-server.ts'
import {
  type Answer,
  type Destination,
  handled,
  type Refusal,
  type Rule,
  readDestination,
  type Visit,
  type VisitResponse,
} from '../visit.ts'
import type { VisitRequest } from '../visit-request.ts'
import { answerConnect, answerTooMany, answerUnreadable } from './bad-connections.ts'
import { countConnections } from './count-connections.ts'
import { anyNumber, type InFlightLimiter } from './in-flight.ts'
import { type OwnAnswer, type OwnQuestion, OwnRequest, OwnResponse } from './own-request.ts'

/** The part of a pino logger that the edge uses. */
export interface EdgeLog {
  debug(facts: object, message: string): void
  warn(facts: object, message: string): void
  error(facts: object, message: string): void
}

/** What the edge counts. Each call is one event. */
export interface EdgeMetrics extends HandshakeMetrics {
  response?(status: number, renderer: string, seconds: number): void
  hostFailure?(code: string): void
}

/** The parts of a gateway. */
export interface GatewayOptions {
  readonly routes: Routes
  readonly log: EdgeLog
  /** Sent to the hosts as `x-stead-key`. */
  readonly hostKey: string
  /** All sites have a name directly below it, so cookies for the domain itself are not allowed. */
  readonly stagingDomain?: string
  /** How visitors reach this edge, unless a trusted proxy says otherwise. */
  readonly publicScheme?: 'http' | 'https'
  /** Addresses or networks whose `X-Forwarded-For` and `-Proto` are believed. */
  readonly trustProxy?: readonly string[]
  /** Addresses or networks whose connections name their client (PROXY protocol). */
  readonly proxyProtocol?: readonly string[]
  /** Certificates for TLS connections. Without it, TLS is off. */
  readonly secureContexts?: Pick<SecureContexts, 'find'>
  readonly limits?: Partial<EdgeLimits>
  /** Applied in this order. By default, those that need no options. */
  readonly rules?: readonly Rule[]
  /** Connections to the hosts, shared with a cache; their creator ends them. If absent, the gateway creates its own. */
  readonly upstreams?: Upstreams
  /** Requests to the hosts, counted together with those of a cache. */
  readonly inFlight?: InFlightLimiter
  /** Bytes of bodies that wait for their senders, by visitor. Without it, they are not counted. */
  readonly waitingBodies?: Budget
  /** Connections of one visitor. Without it, only their total is bounded. */
  readonly connections?: Budget
  /** Waits until a purge that a visitor caused counts here, so that visitors see their own changes. */
  readonly reachPurge?: (seq: number) => Promise<void>
  /** Returns whether this edge can serve visitors, for load balancers. By default, it can as long as it runs. */
  readonly isReady?: () => Promise<boolean>
  /** Called after each response. Costs nothing if not set. */
  readonly onAccess?: (entry: AccessEntry, contentType: string) => void
  readonly metrics?: EdgeMetrics
}

/** The entry point of all visitor traffic. */
export interface Gateway {
  /** Not listening yet. */
  readonly server: Server
  /** The same over TLS, if there are `secureContexts`. Not listening yet either. */
  readonly secureServer: SecureServer | undefined
  /**
   * Handles a question of the monitoring as a visitor's request, but without a connection.
   * @param done called once; with undefined if it breaks off, such as while the gateway closes
   * @returns a function that ends it
   */
  ask(question: OwnQuestion, done: (answer: OwnAnswer | undefined) => void): () => void
  /** Stops accepting requests, lets those in flight finish (for a bounded time), and closes all connections. */
  close(): Promise<void>
}

interface GatewayContext extends ProxyContext {
  readonly options: GatewayOptions
  readonly limits: EdgeLimits
  readonly rules: readonly Rule[]
  readonly readClient: ReadClient
  readonly isMisdirected: IsMisdirected
  readonly turns: RequestTurns
  closing: boolean
  http2?: Http2Sessions
  /** Each ends connections that Node does not track as having requests. */
  readonly cutOff: (() => void)[]
  /** Each ends connections that have not named their client yet. */
  readonly silent: (() => void)[]
}

/** Creates a gateway. It does not listen or open connections. */
export function createGateway(options: GatewayOptions): Gateway {
  const limits = { ...defaultLimits, ...options.limits }
  const upstreams = options.upstreams ?? createUpstreams(limits.upstream)
  const context: GatewayContext = {
    options,
    limits,
    upstreams,
    hostKey: options.hostKey,
    stagingDomain: options.stagingDomain ?? 'localhost',
    reachPurge: options.reachPurge,
    inFlight: options.inFlight ?? anyNumber,
    waitingBodies: options.waitingBodies,
    bodyPace: limits.bodyPace,
    rules: options.rules ?? edgeRules(),
    readClient: createClientReader(options.trustProxy ?? [], options.publicScheme ?? 'http'),
    isMisdirected: createMisdirected(createTrust(options.trustProxy ?? [])),
    turns: new RequestTurns(limits.pipelined - 1),
    closing: false,
    cutOff: [],
    silent: [],
    onFailure: createFailureReport(options),
    lookAgain: (hostName) => options.routes.lookAgain?.(hostName) ?? Promise.resolve(undefined),
  }
  const http = {
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: Math.min(5_000, limits.headersTimeoutMs),
    insecureHTTPParser: false,
    // The edge answers a missing Host with its own 400, which has a request ID.
    requireHostHeader: false,
    shouldUpgradeCallback: () => false,
    // Without this, the gateway must read every request to its end, even one without a body.
    optimizeEmptyRequests: true,
  }
  const server = createServer(http)
  serve(context, server, answerTooMany)
  const secureServer = options.secureContexts && createSecureGate(context, options.secureContexts, http)
  // A plain-text answer is noise to a TLS client.
  if (secureServer) serve(context, secureServer, (socket) => socket.destroy())
  const servers = secureServer ? [server, secureServer] : [server]
  return {
    server,
    secureServer,
    ask: (question, done) => askOwn(context, question, done),
    close: () => close(servers, context),
  }
}

function askOwn(
  context: GatewayContext,
  question: OwnQuestion,
  done: (answer: OwnAnswer | undefined) => void,
): () => void {
  const response = new OwnResponse(done)
  const end = () => response.destroy()
  if (context.closing) end()
  else begin(context, new OwnRequest(question), response, performance.now(), undefined)
  return end
}

function createSecureGate(context: GatewayContext, contexts: Pick<SecureContexts, 'find'>, http: ServerOptions) {
  const { limits, options } = context
  const http2 = createHttp2Sessions({
    limits,
    connections: options.connections,
    isTrusted: createTrust(options.trustProxy ?? []),
    onRequest: (request, response) =>
      begin(context, request, response, performance.now(), expectationOf(request.headers.expect)),
  })
  context.http2 = http2
  const parts = {
    contexts,
    metrics: options.metrics,
    onFault: (error: unknown, serverName: string) =>
      options.log.warn({ err: error, host: serverName }, 'could not look up a certificate'),
    speakHttp2: (socket: TLSSocket) => http2.accept(socket),
  }
  const server = createSecureServer(parts, { ...http, handshakeTimeout: limits.headersTimeoutMs })
  context.cutOff.push(trackSockets(server))
  return server
}

/** Answers all requests to a server. @param refuse ends a connection of a visitor with too many */
function serve(context: GatewayContext, server: Server | SecureServer, refuse: (socket: Socket) => void): void {
  const { options, limits } = context
  server.maxConnections = limits.connections
  server.timeout = limits.stallTimeoutMs
  const isBalancer = createTrust(options.proxyProtocol ?? [])
  const count = (counts: (socket: Socket) => boolean) => {
    if (!options.connections) return
    countConnections(server, {
      connections: options.connections,
      isTrusted: createTrust(options.trustProxy ?? []),
      counts,
      refuse,
    })
  }
  // The client behind a load balancer is known once the PROXY header is read. Other connections are counted at once.
  const isOfBalancer = (socket: Socket) => isBalancer(plainAddress(socket.remoteAddress ?? ''))
  count(isOfBalancer)
  context.silent.push(
    readProxyHeaders(server, {
      isBalancer,
      siteKey: options.hostKey,
      // A connection that may begin with a PROXY header has as much time for it as for request headers.
      timeoutMs: limits.headersTimeoutMs,
    }),
  )
  count((socket) => !isOfBalancer(socket))
  server.on('request', (request, response) => receive(context, request, response))
  server.on('checkContinue', (request, response) => receive(context, request, response, '100-continue'))
  server.on('checkExpectation', (request, response) => receive(context, request, response, 'unknown'))
  server.on('connect', (_request, socket) => refuseTunnel(context, socket))
  server.on('clientError', (error: NodeJS.ErrnoException, socket) =>
    context.turns.fail(error, socket, () => answerUnreadable(error, socket)),
  )
}

async function close(servers: readonly (Server | SecureServer)[], context: GatewayContext): Promise<void> {
  context.closing = true
  const closed = servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve())))
  for (const server of servers) server.closeIdleConnections()
  context.http2?.close()
  for (const end of context.silent) end()
  const cutOff = setTimeout(() => {
    for (const server of servers) server.closeAllConnections()
    for (const cutOff of context.cutOff) cutOff()
  }, context.limits.closeTimeoutMs)
  await Promise.all(closed)
  clearTimeout(cutOff)
  if (!context.options.upstreams) await context.upstreams.destroy()
}

/** Refuses CONNECT. Node has detached the connection, and no longer handles its errors. */
function refuseTunnel({ turns }: GatewayContext, socket: Duplex): void {
  socket.on('error', () => {})
  turns.end(socket, () => answerConnect(socket))
}

type Expectation = '100-continue' | 'unknown' | undefined

/** HTTP/2 leaves this to the server. For HTTP/1, Node emits events. */
function expectationOf(expect: string | undefined): Expectation {
  if (expect === undefined) return undefined
  return expect.toLowerCase() === '100-continue' ? '100-continue' : 'unknown'
}

/** Handles an HTTP/1 request in its turn on the connection. */
function receive(
  context: GatewayContext,
  request: IncomingMessage,
  response: ServerResponse,
  expectation?: Expectation,
): void {
  const startedAtMs = performance.now()
  context.turns.take(
    response,
    () => begin(context, request, response, startedAtMs, expectation),
    () => begin(context, request, response, startedAtMs, expectation, true),
  )
}

function begin(
  context: GatewayContext,
  request: VisitRequest,
  response: VisitResponse,
  startedAtMs: number,
  expectation: Expectation,
  isTooMuch = false,
): void {
  const { options } = context
  const destination = destinationOf(context, request)
  const visit = createVisit(context, request, response, destination, startedAtMs, expectation === '100-continue')
  response.once('close', () => finish(context, visit))
  if (context.closing) response.shouldKeepAlive = false
  if (visit.method === 'CONNECT') sendAnswer(visit, refusedMethodAnswer(visit))
  else if (isProbe(request, destination))
    answerProbe(visit, async () => !context.closing && ((await options.isReady?.()) ?? true))
  else if ('status' in destination) sendAnswer(visit, refusalAnswer(visit, destination))
  else if (expectation === 'unknown') sendAnswer(visit, pageAnswer(visit, unexpected, [], true))
  else if (isTooMuch) sendAnswer(visit, pageAnswer(visit, tooMany, [], true))
  else route(context, visit)
}

function destinationOf(context: GatewayContext, request: VisitRequest): Destination | Refusal {
  const destination = readDestination(request, context.limits.urlBytes)
  if ('status' in destination || request.url === PROBE_PATH) return destination
  if (!context.isMisdirected(request, destination.hostName)) return destination
  return { status: 421, reason: 'This connection is for another site.' }
}

function createVisit(
  context: GatewayContext,
  request: VisitRequest,
  response: VisitResponse,
  destination: Destination | Refusal,
  startedAtMs: number,
  expectsContinue: boolean,
): Visit {
  const known = 'status' in destination ? undefined : destination
  return {
    id: randomUUID(),
    request,
    response,
    method: request.method as string,
    target: known?.target ?? (request.url as string),
    host: known?.host ?? '',
    hostName: known?.hostName ?? '',
    client: request instanceof OwnRequest ? request.client : context.readClient(request),
    startedAtMs,
    expectsContinue,
    route: undefined,
    observers: undefined,
    abandon: undefined,
    release: undefined,
    outcome: { sentBytes: 0, renderer: '', cached: '', contentType: '' },
  }
}

/** Runs when the response is sent, or the visitor has left. */
function finish(context: GatewayContext, visit: Visit): void {
  visit.abandon?.()
  visit.release?.()
  const { onAccess, metrics, log } = context.options
  if (!onAccess && !metrics) return
  const nowMs = performance.now()
  try {
    metrics?.response?.(visit.response.statusCode, visit.outcome.renderer, (nowMs - visit.startedAtMs) / 1000)
    if (!isOwn(visit)) onAccess?.(accessEntry(visit, Date.now(), nowMs), visit.outcome.contentType)
  } catch (error) {
    log.error({ err: error, requestId: visit.id }, 'access log failed')
  }
}

/** Returns whether Stead itself looks at this site. Requests that its page causes to other sites are logged there. */
const isOwn = ({ client: { looksAt }, route }: Visit): boolean =>
  looksAt === 'every' || (looksAt !== undefined && looksAt === route?.siteId)

/** Finds the route, synchronously for all but the first request to a host name. */
function route(context: GatewayContext, visit: Visit): void {
  try {
    const { routes } = context.options
    const found =
      visit.client.looksAt === 'every' && routes.peek ? routes.peek(visit.hostName) : routes.find(visit.hostName)
    if (!(found instanceof Promise)) {
      decide(context, visit, found)
      return
    }
    found.then(
      (late) => decide(context, visit, late),
      (error) => {
        context.options.log.warn({ err: error, requestId: visit.id, host: visit.hostName }, 'could not look up a route')
        sendAnswer(visit, pageAnswer(visit, noRoutes, ['Retry-After', '5']))
      },
    )
  } catch (error) {
    fail(context, visit, error)
  }
}

function decide(context: GatewayContext, visit: Visit, found: Route | undefined): void {
  visit.route = found
  applyRules(context, visit, 0)
}

/** Applies the rules in order, starting at `index`. Waits only for rules that return a promise. */
function applyRules(context: GatewayContext, visit: Visit, index: number): void {
  try {
    for (let i = index; i < context.rules.length; i++) {
      const answer = (context.rules[i] as Rule)(visit)
      if (answer === undefined) continue
      if (answer === handled) return
      if (!(answer instanceof Promise)) {
        sendAnswer(visit, answer)
        return
      }
      answer.then(
        (late) => {
          if (late === undefined) applyRules(context, visit, i + 1)
          else if (late !== handled) sendAnswer(visit, late)
        },
        (error) => fail(context, visit, error),
      )
      return
    }
    // The visitor may have left while rules waited.
    if (visit.route && !visit.response.destroyed)
      passToHost(visit, visit.route, context)?.catch((error) => fail(context, visit, error))
  } catch (error) {
    fail(context, visit, error)
  }
}

function fail(context: GatewayContext, visit: Visit, error: unknown): void {
  context.options.log.error({ err: error, requestId: visit.id }, 'could not handle a request')
  if (visit.response.headersSent) visit.response.destroy()
  else sendAnswer(visit, pageAnswer(visit, broken))
}

/** Creates the listener for failing hosts. Every failure counts, but a host that is down logs one line per second. */
function createFailureReport(options: GatewayOptions): ProxyContext['onFailure'] {
  const quietUntilMs = new LRUCache<string, number>({ max: 1_000 })
  return (visit, found, error: NodeJS.ErrnoException) => {
    const code = error.code ?? error.name
    options.metrics?.hostFailure?.(code)
    if (/^(?:ECONN|EHOSTUNREACH|EHOSTDOWN|ENET|HOST_CONNECT|HOST_SILENT|HOST_UNTRUSTED|HOST_CLOSED)/.test(code))
      options.routes.suspect?.(visit.hostName)
    if (performance.now() < (quietUntilMs.get(found.upstream) ?? 0)) return
    quietUntilMs.set(found.upstream, performance.now() + 1_000)
    const facts = { err: error, requestId: visit.id, siteId: found.siteId, upstream: found.upstream }
    options.log.warn(facts, 'host does not respond')
  }
}

function refusalAnswer(visit: Visit, refusal: Refusal): Answer {
  const title = refusalTitles[refusal.status] ?? 'This request cannot be understood'
  return pageAnswer(visit, plainPage({ status: refusal.status, title, text: refusal.reason }), [], true)
}

const refusalTitles: Partial<Record<Refusal['status'], string>> = {
  413: 'This request is too large',
  414: 'This address is too long',
  421: 'This request was sent to the wrong server',
  505: 'This HTTP version is not supported',
}
const tooMany = plainPage({
  status: 503,
  title: 'Too many requests at once',
  text: 'Too many requests are waiting on this connection. Wait for responses before you send more.',
})
const unexpected = plainPage({
  status: 417,
  title: 'This expectation is not supported',
  text: 'Only 100-continue is supported.',
})
const noRoutes = plainPage({
  status: 503,
  title: 'This site cannot be found right now',
  text: 'Please try again in a moment.',
})
const broken = plainPage({
  status: 500,
  title: 'Something went wrong',
  text: 'The server could not process the request. Please try again in a moment.',
})
