import { randomUUID } from 'node:crypto'
import cors from '@fastify/cors'
import formbody from '@fastify/formbody'
import multipart from '@fastify/multipart'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { Budget } from '../budgets/budget.ts'
import type { Log } from '../log/log.ts'
import { answerErrors, pathOf, refuseUnreadableForms, refuseUnreadablePath } from './answer-errors.ts'
import { createApiServer } from './api-server.ts'
import { createTrust } from './client/client-address.ts'
import { readOrigins } from './client/origin.ts'
import type { CallerFacts, Endpoint } from './endpoint.ts'
import type { ApiMetrics } from './metrics.ts'
import { type AccessDescription, describeApi, routeSchema } from './openapi/openapi.ts'
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
    /** What tokens may have, and what each means. */
    readonly scopes: Record<string, string>
  }
  /** What each endpoint's access rule means, for its description. */
  describeAccess(endpoint: Endpoint): AccessDescription
  readonly corsOrigins: readonly string[]
  readonly trustProxy: readonly string[]
  /** Addresses or networks whose connections say who they are from (PROXY protocol). */
  readonly proxyProtocol?: readonly string[]
  /** Where people open the API's pages, when it is not where it listens. */
  readonly publicUrl?: string | undefined
  readonly bodyLimitBytes: number
  /** Bodies of requests while they are read and answered. */
  readonly bodies: Budget
  readiness(): Promise<Readiness>
}

export interface Readiness {
  /** Whether the API should get requests now. */
  readonly ready: boolean
  /** It works, but not all of it: the details say what does not. */
  readonly isDegraded?: boolean
  readonly details: object
}

/** One HTTP API over a list of endpoints. Never listens: `app.listen` and `app.inject` are the caller's. */
export async function createApi<Caller extends CallerFacts>(options: ApiOptions<Caller>): Promise<FastifyInstance> {
  const app = fastify({
    logger: false,
    genReqId: requestId,
    // for `X-Forwarded-Host`; everything else is read by `readOrigins`
    trustProxy: createTrust(options.trustProxy),
    bodyLimit: options.bodyLimitBytes,
    routerOptions: { ignoreTrailingSlash: true, ignoreDuplicateSlashes: true, maxParamLength: 500 },
    // during a graceful stop requests under way are answered, new ones on kept connections too (then closed)
    return503OnClosing: false,
    schemaController: { compilersFactory: { buildSerializer: compiledWhenUsed } },
    serverFactory: (handler) => createApiServer(handler, options.bodyLimitBytes),
    frameworkErrors: (_error, request, reply) => refuseUnreadablePath(request, reply),
    // the server's own part
    clientErrorHandler: () => {},
  })
  readOrigins(app, options)
  // the contracts are checked by the pipeline, which forgives what real clients send
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

/** A client may bring its own id, if it is one that can stand in a log. */
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
    schema: routeSchema(endpoint, options.describeAccess(endpoint)),
    config: {
      operationId: endpoint.id,
      isStream: endpoint.style === 'stream' || endpoint.upload !== undefined,
      takesAnyBody: endpoint.anyBody === true,
      isUpload: endpoint.upload !== undefined,
    },
    handler: routeHandler(endpoint, options.platform, options.log),
    ...(endpoint.etag ? { onSend: answerNotModified } : {}),
  })
}

/** A hook with a callback: a promise for each answer would take more time than the comparison. */
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

/** Health for supervisors, readiness for load balancers, figures for Prometheus: no token, nothing secret. */
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
        path: pathOf(request),
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
        ip: request.client.address,
      },
      'request',
    )
    done()
  })
}

/** Whoever only listens or downloads would hold up a stop for as long as he likes; his client connects again, elsewhere. */
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
    /** Its body goes through, and is in memory at no time. */
    isUpload?: boolean
  }
}
