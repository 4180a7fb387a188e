import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance, FastifySchema } from 'fastify'
import Type, { type TSchema } from 'typebox'
import type { Endpoint } from '../endpoint.ts'
import { takesKey } from '../idempotency/takes-key.ts'
import { httpProblems } from '../problem.ts'
import { envelope } from '../schemas.ts'
import { icon, logo } from './logo.ts'
import { changes, finishDocument } from './openapi-document.ts'

interface Info {
  readonly title: string
  readonly version: string
  readonly description: string
  readonly tags: { name: string; description: string }[]
  /** The scopes that tokens may have, with the meaning of each. */
  readonly scopes: Record<string, string>
}

/**
 * Returns both ways to send a token.
 * @param scopes those that the token must have
 */
const securityOf = (scopes: readonly string[]): Record<string, string[]>[] => [{ oauth2: [...scopes] }, { bearer: [] }]

/** The page's script sets its styles inline. Everything else comes from our own files. */
const pagePolicy =
  "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** Serves the OpenAPI 3.1 document at /openapi.json, and a page for it at /docs that loads nothing from other hosts. */
export async function describeApi(app: FastifyInstance, info: Info, endpoints: readonly Endpoint[]): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: info.title,
        version: info.version,
        description: info.description,
        license: { name: 'GPL-2.0-or-later', identifier: 'GPL-2.0-or-later' } as never,
      },
      servers: [{ url: '/', description: 'This Stead' }],
      tags: info.tags,
      security: securityOf([]),
      components: {
        securitySchemes: {
          oauth2: {
            type: 'oauth2',
            description:
              'Exchange the client id and secret of an API application for a token, and send it as a bearer token',
            flows: { clientCredentials: { tokenUrl: '/auth/token', scopes: info.scopes } },
          },
          bearer: {
            type: 'http',
            scheme: 'bearer',
            description: 'Access token from POST /auth/token, valid for one hour',
          },
        },
      },
    },
    transformObject: (made) => {
      if (!('openapiObject' in made)) return made.swaggerObject
      finishDocument(made.openapiObject as never, endpoints)
      return made.openapiObject
    },
    refResolver: { buildLocalReference: (json, _baseUri, _fragment, index) => String(json.$id ?? `def-${index}`) },
  })
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    uiConfig: { docExpansion: 'list', persistAuthorization: true },
    logo: { type: 'image/svg+xml', content: logo, href: '/docs' },
    theme: {
      title: `${info.title} API`,
      favicon: [{ filename: 'icon.svg', rel: 'icon', sizes: 'any', type: 'image/svg+xml', content: icon }],
    },
    staticCSP: pagePolicy,
  })
  app.get('/openapi.json', { schema: { hide: true } }, async () => app.swagger())
}

/** The body of an upload. */
const BYTES = Type.Unsafe({ type: 'string', format: 'binary', description: 'The raw bytes of the part' })

/**
 * Statuses of every endpoint. 503: the database is unreachable, or the connection was lost while it stored a change.
 */
const commonProblems = [401, 429, 500, 503]

/** The meaning of an endpoint's access rule, for readers of the description. */
export interface AccessDescription {
  /** One sentence, or an empty text. */
  readonly text: string
  /** The statuses with which it refuses a caller that has a valid token. */
  readonly refusals: readonly number[]
  /** The scopes that a token must have. */
  readonly scopes?: readonly string[]
}

/** Returns the schema of the endpoint's success, with which Fastify writes answers. */
export function answerSchema({ style = 'envelope', response, paged = false }: Endpoint): FastifySchema {
  if (style === 'stream') return {}
  return { response: { '2xx': style === 'envelope' ? envelope(response, paged) : response } }
}

/**
 * Returns the complete description of an endpoint for the OpenAPI document. Routes do without it, because it would be
 * half of the work and memory of a new API.
 */
export function describeEndpoint(endpoint: Endpoint, access: AccessDescription): FastifySchema {
  const { params, query, body, style = 'envelope', response, paged = false } = endpoint
  const status = endpoint.status ?? 200
  const success: TSchema = style === 'envelope' ? envelope(response, paged) : response
  const failures = new Set([
    ...commonProblems.filter((status) => endpoint.access !== 'public' || status !== 401),
    ...access.refusals,
    ...(params ? [404] : []),
    // Stead refuses an unreadable body before it checks whether the endpoint accepts one.
    ...[400, 413, 415],
    ...(takesKey(endpoint) ? [409, 422] : []),
    // The key of a POST that only reads is stored too.
    ...(takesKey(endpoint) || changes(endpoint) ? [httpProblems.disk_full.status] : []),
    ...(endpoint.failure ? [401, 429] : []),
    ...(endpoint.problems ?? []).map((problem) => problem.status),
  ])
  const contents = [endpoint.contentType ?? []].flat().map((type) => [type, { schema: response }])
  const streamed = { content: Object.fromEntries(contents) }
  return {
    operationId: endpoint.id,
    tags: [endpoint.tag],
    summary: endpoint.summary,
    description: [endpoint.description, access.text].filter(Boolean).join('\n\n'),
    ...(endpoint.access === 'public' ? { security: [] } : {}),
    ...(access.scopes?.length ? { security: securityOf(access.scopes) } : {}),
    ...(params ? { params } : {}),
    ...(query ? { querystring: query } : {}),
    ...(body ? { body } : {}),
    ...(endpoint.upload ? { consumes: ['application/octet-stream'], body: BYTES } : {}),
    ...(endpoint.form
      ? { consumes: ['application/x-www-form-urlencoded', 'multipart/form-data', 'application/json'] }
      : {}),
    response: {
      [status]: { description: 'Success', ...(style === 'stream' ? streamed : success) },
      ...(endpoint.ranges ? { 206: { description: 'The part that `Range` requests', ...streamed } } : {}),
      ...Object.fromEntries(
        [...failures].sort().map((code) => [code, endpoint.failure ? endpoint.failure.schema : { $ref: 'Problem#' }]),
      ),
    },
  }
}
