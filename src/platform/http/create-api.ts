import { randomUUID } from 'node:crypto'
import cors from '@fastify/cors'
import formbody from '@fastify/formbody'
import multipart from '@fastify/multipart'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { Budget } from '../budgets/budget.ts'
import type { Log } from '../log/log.ts'
import { answerErrors, loggedPath, refuseUnreadableForms, refuseUnreadablePath } from './answer-errors.ts'
import type { ApiMetrics } from './api-metrics.ts'
import { createApiServer } from './api-server.ts'
import { createTrust } from './client/client-address.ts'
import { readOrigins } from './client/origin.ts'
import type { CallerFacts, Endpoint } from './endpoint.ts'
import { type AccessDescription, answerSchema, describeApi, describeEndpoint } from './openapi/describe-api.ts'
import { entityTag, type Platform, routeHandler } from './pipeline.ts'
import { takeJsonBodies } from './request/body.ts'
import { countBodies } from './request/count-bodies.ts'
import { IGNORED_HEADER } from './request/ignored-fields.ts'
import { leaveBodies } from './request/uploads.ts'
import { NEXT_AFTER, NEXT_PLACE, ProblemEnvelope } from './schemas.ts'
import { compiledWhenUsed } from './serializers.ts'

export interface ApiOptions<Caller extends CallerFacts> {
  readonly endpoints: readonly Endpoint[]
  readonly platform: Platform<Caller>
  readonly log: Log
  readonly metrics: ApiMetrics
  readonly info: {
    readonly title: string
    readonly version: string
    readonly description: string
    readonly tags: { name: string; description: string }[]
    /** The scopes that tokens may have, with the meaning of each. */
    readonly scopes: Record<string, string>
  }
  /** Returns the meaning of an endpoint's access rule, for its description. */
  describeAccess(endpoint: Endpoint): AccessDescription
  readonly corsOrigins: readonly string[]
  readonly trustProxy: readonly string[]
  /** Addresses or networks whose connections declare their client (PROXY protocol). */
  readonly proxyProtocol?: readonly string[]
  /** The URL at which people open the API's pages, if it differs from the listening address. */
  readonly publicUrl?: string | undefined
  readonly bodyLimitBytes: number
  /** The memory budget for request bodies, from reading until the answer. */
  readonly bodies: Budget
  readiness(): Promise<Readiness>
}

export interface Readiness {
  /** Whether the API should receive requests now. */
  readonly ready: boolean
  /** Whether only part of it works. The details say which part does not. */
  readonly isDegraded?: boolean
  readonly details: object
}

/**
 * Creates one HTTP API from a list of endpoints. It never listens: `app.listen` and `app.inject` are up to the caller.
 */
export async function createApi<Caller extends CallerFacts>(options: ApiOptions<Caller>): Promise<FastifyInstance> {
  const app = fastify({
    logger: false,
    genReqId: requestId,
    // This is only for `X-Forwarded-Host`. `readOrigins` reads everything else.
    trustProxy: createTrust(options.trustProxy),
    bodyLimit: options.bodyLimitBytes,
    routerOptions: { ignoreTrailingSlash: true, ignoreDuplicateSlashes: true, maxParamLength: 500 },
    // During a graceful stop, Stead answers requests in flight and new ones on open connections, then closes them.
    return503OnClosing: false,
    schemaController: { compilersFactory: { buildSerializer: compiledWhenUsed } },
    serverFactory: (handler) => createApiServer(handler, options.bodyLimitBytes),
    frameworkErrors: (_error, request, reply) => refuseUnreadablePath(request, reply),
    // `createApiServer` answers these errors.
    clientErrorHandler: () => {},
  })
  readOrigins(app, options)
  // The pipeline checks the contracts, because it is tolerant of what real clients send.
  app.setValidatorCompiler(() => () => true)
  countBodies(app, options.bodies, options.bodyLimitBytes)
  takeJsonBodies(app)
  answerErrors(app, options)
  observe(app, options)
  endStreams(app)
  app.addSchema(ProblemEnvelope)
  await allowOrigins(app, options.corsOrigins)
  await describeApi(app, options.info, options.endpoints)
  app.register(async (routes) => {
    for (const endpoint of options.endpoints.filter((each) => !each.form && !each.upload))
      addRoute(routes, endpoint, options)
  })
  app.register(async (routes) => {
    leaveBodies(routes)
    for (const endpoint of options.endpoints.filter((each) => each.upload)) addRoute(routes, endpoint, options)
  })
  app.register(async (routes) => {
    await routes.register(formbody)
    await routes.register(multipart, {
      attachFieldsToBody: 'keyValues',
      limits: { files: 0, fields: 20, fieldSize: 4096 },
    })
    refuseUnreadableForms(routes)
    for (const endpoint of options.endpoints.filter((each) => each.form)) addRoute(routes, endpoint, options)
  })
  addProbes(app, options)
  return app
}

/** Returns the client's own request id if it is safe to log, otherwise a new one. */
function requestId(request: { headers: Record<string, unknown> }): string {
  const given = request.headers['x-request-id']
  return typeof given === 'string' && /^[\w.:-]{1,128}$/.test(given) ? given : randomUUID()
}

async function allowOrigins(app: FastifyInstance, origins: readonly string[]): Promise<void> {
  if (origins.length === 0) return
  await app.register(cors, {
    origin: origins.includes('*') ? '*' : [...origins],
    methods: ['GET', 'POST', 'PUT', 'DELETE'],
    exposedHeaders: [
      'accept-ranges',
      'content-disposition',
      'content-range',
      'operation-id',
      'x-request-id',
      NEXT_AFTER,
      NEXT_PLACE,
      'etag',
      'ratelimit',
      'ratelimit-policy',
      'retry-after',
      'idempotency-replayed',
      IGNORED_HEADER,
      'www-authenticate',
    ],
    maxAge: 600,
  })
}

function addRoute<Caller extends CallerFacts>(
  app: FastifyInstance,
  endpoint: Endpoint,
  options: ApiOptions<Caller>,
): void {
  app.route({
    method: endpoint.method,
    url: endpoint.path.replace(/\{(\w+)\}/g, ':$1'),
    schema: answerSchema(endpoint),
    config: {
      swaggerTransform: ({ url }) => ({ schema: describeEndpoint(endpoint, options.describeAccess(endpoint)), url }),
      operationId: endpoint.id,
      isStream: endpoint.style === 'stream' || endpoint.upload !== undefined,
      takesAnyBody: endpoint.anyBody === true,
      isUpload: endpoint.upload !== undefined,
    },
    handler: routeHandler(endpoint, options.platform, options.log),
    ...(endpoint.etag ? { onSend: answerNotModified } : {}),
  })
}

/**
 * Answers 304 if the client has the current version. The hook takes a callback, because a promise for each answer would
 * take longer than the comparison.
 */
function answerNotModified(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  done: (error: null, payload: unknown) => void,
): void {
  if (reply.statusCode !== 200 || typeof payload !== 'string') {
    done(null, payload)
    return
  }
  const tag = entityTag(payload)
  reply.header('etag', tag)
  const known = request.headers['if-none-match']
  const isKnown = known === '*' || known?.split(/\s*,\s*/).some((each) => each.replace(/^W\//, '') === tag)
  if (isKnown) reply.code(304).removeHeader('content-type').removeHeader('content-length')
  done(null, isKnown ? '' : payload)
}

/**
 * Adds health for supervisors, readiness for load balancers, and metrics for Prometheus: no token needed, nothing
 * secret.
 */
function addProbes<Caller extends CallerFacts>(app: FastifyInstance, options: ApiOptions<Caller>): void {
  app.get('/healthz', { schema: { hide: true } }, async () => ({ status: 'ok' }))
  app.get('/readyz', { schema: { hide: true } }, async (_request, reply) => {
    const { ready, isDegraded = false, details } = await options.readiness()
    const status = isDegraded ? 'degraded' : 'ready'
    return reply.code(ready ? 200 : 503).send({ status: ready ? status : 'not ready', ...details })
  })
  app.get('/metrics', { schema: { hide: true } }, async (_request, reply) => {
    const { contentType, text } = await options.metrics.collect()
    return reply.type(contentType).send(text)
  })
}

function observe<Caller extends CallerFacts>(app: FastifyInstance, { log, metrics }: ApiOptions<Caller>): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    const operationId = request.routeOptions.config.operationId ?? 'none'
    metrics.observe(operationId, reply.statusCode, reply.elapsedTime / 1000)
    const level = request.method === 'GET' ? 'debug' : 'info'
    if (!log.isLevelEnabled(level)) return done()
    log[level](
      {
        requestId: request.id,
        operationId,
        method: request.method,
        path: loggedPath(request),
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
        ip: request.client.address,
      },
      'request',
    )
    done()
  })
}

/**
 * Ends streams when the API stops, because a client that only listens or downloads could delay the stop indefinitely.
 * It reconnects elsewhere.
 */
function endStreams(app: FastifyInstance): void {
  const open = new Set<FastifyReply['raw']>()
  app.addHook('onRoute', (route) => {
    if (!route.config?.isStream) return
    route.onRequest = [route.onRequest ?? []].flat().concat((_request, reply, done) => {
      open.add(reply.raw)
      reply.raw.once('close', () => open.delete(reply.raw))
      done()
    })
  })
  app.addHook('preClose', (done) => {
    for (const response of open) response.destroy()
    done()
  })
}

declare module 'fastify' {
  interface FastifyContextConfig {
    operationId?: string
    isStream?: boolean
    takesAnyBody?: boolean
    /** Whether its body is streamed, and never held in memory as a whole. */
    isUpload?: boolean
  }
}
