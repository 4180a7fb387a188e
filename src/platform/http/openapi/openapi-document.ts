import type { Endpoint } from '../endpoint.ts'
import { takesKey } from '../idempotency/takes-key.ts'
import { errorBody, Problem } from '../problem.ts'
import { exampleOf, type Schemas } from './openapi-examples.ts'

/*
 * The plugin that collects the routes repeats shared parts in every endpoint. This module turns its output into a
 * document for people and generators: shared parts are described once, and objects have names.
 */

type Json = Record<string, unknown>
type Schema = Json & { title?: string; type?: unknown }
interface Response {
  description?: string
  headers?: Json
  content?: Content
}
type Content = Record<string, { schema?: Schema; example?: unknown }>
interface Described {
  operationId: string
  parameters?: Json[]
  requestBody?: { required?: boolean; content: Content }
  responses: Record<string, Response | { $ref: string }>
}
interface Document {
  paths?: Record<string, Record<string, Described>>
  components?: Record<string, Record<string, unknown>>
}

/** Finishes the document in place. @throws Error when two different schemas have one title */
export function finishDocument(document: Document, endpoints: readonly Endpoint[]): void {
  const byId = new Map(endpoints.map((endpoint) => [endpoint.id, endpoint]))
  document.paths = joinSamePaths(document.paths ?? {})
  const schemas = (document.components?.schemas ?? {}) as Record<string, Schema>
  for (const item of Object.values(document.paths))
    for (const described of Object.values(item)) {
      const endpoint = byId.get(described.operationId) as Endpoint
      describeBody(described)
      describeResponses(described, endpoint)
      addParameters(described, endpoint)
    }
  document.paths = nameSchemas(document.paths, schemas) as Document['paths'] & object
  for (const item of Object.values(document.paths))
    for (const described of Object.values(item))
      addExamples(described, byId.get(described.operationId) as Endpoint, schemas as Schemas)
  const responses = Object.fromEntries(Object.values(failures).map((each) => [each.name, described(each)]))
  document.components = { ...document.components, schemas, headers, parameters, responses }
}

const header = (type: string, description: string) => ({ description, schema: { type } })

const headers = {
  XRequestId: header('string', "Identifies the request in the log. Same as the request's X-Request-Id, if it sent one"),
  RateLimit: header(
    'string',
    'Remaining requests, and seconds until the window ends (draft-ietf-httpapi-ratelimit-headers)',
  ),
  RateLimitPolicy: header('string', "Request limit of a window, and the window's length in seconds"),
  RetryAfter: header('integer', 'Seconds'),
  OperationId: header(
    'integer',
    'Id of the background operation that the request started. Follow it with GET /v1/operations/{id}',
  ),
  ETag: header('string', 'Version of the resource, for If-None-Match'),
  IdempotencyReplayed: header(
    'string',
    '`true` if this is the stored response to the first request with this Idempotency-Key',
  ),
  SteadIgnored: {
    ...header(
      'string',
      'Names fields and query parameters that the operation does not know and has ignored, as a list (RFC 9651). Each name has its place (`in`) and, if Stead can guess, the intended name (`did-you-mean`) and its place (`send-in`). The list ends with the token `and-more` if there are more names.',
    ),
    example: '"phpVersion";in=body;did-you-mean="php_version"',
  },
  WwwAuthenticate: header('string', 'Follows RFC 6750 for bearer tokens and RFC 7617 for clients'),
}

const parameters = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description: "ETag of the client's copy. The response is 304 if the copy is current.",
    schema: { type: 'string' },
  },
}

const headerRefs = (...named: [string, keyof typeof headers][]) =>
  Object.fromEntries(named.map(([name, key]) => [name, { $ref: `#/components/headers/${key}` }]))

/** The headers of every answer. */
const common = headerRefs(['X-Request-Id', 'XRequestId'], ['Stead-Ignored', 'SteadIgnored'])
const rateHeaders = headerRefs(['RateLimit', 'RateLimit'], ['RateLimit-Policy', 'RateLimitPolicy'])

interface Failure {
  readonly name: string
  readonly description: string
  readonly headers: Json
  /** One of the problems that have this status. */
  readonly example: Problem
}

function failure(
  name: string,
  description: string,
  [status, code, text]: readonly [status: number, code: string, text: string],
  extra: Json = {},
): [number, Failure] {
  const example = new Problem({ code, status, text, remedy: '' }, {})
  return [status, { name, description, headers: { ...common, ...extra }, example }]
}

// biome-ignore format: a table
const failures: Record<string, Failure> = Object.fromEntries([
  failure('InvalidRequest', 'The input is invalid, or a rule or the current state does not allow the request', [400, 'invalid_input', 'name: must be at least 4 characters']),
  failure('Unauthorized', 'The access token is missing, unknown, expired or revoked', [401, 'invalid_token', 'The access token is unknown, expired or revoked. Request a new one.'], headerRefs(['WWW-Authenticate', 'WwwAuthenticate'])),
  failure('Forbidden', 'The caller lacks a role on the site, or the scope `owner`', [403, 'forbidden', 'You need the role manage_notes on this site for this operation.']),
  failure('NotFound', 'The resource does not exist, or the caller cannot see it', [404, 'not_found', 'We could not locate the requested resources.']),
  failure('InProgress', 'The first request with this Idempotency-Key is still running, or the site cannot do this in its current state', [409, 'idempotency_in_progress', 'The first request with this Idempotency-Key is still running. Try again in a moment.']),
  failure('TooLarge', 'The request body is too large', [413, 'body_too_large', 'The request body is larger than 1024 kB, the limit of this operation. Send a smaller body.']),
  failure('UnsupportedMediaType', 'The request body is not JSON', [415, 'unsupported_media_type', 'Send the request body as application/json.']),
  failure('KeyReused', 'The Idempotency-Key was used with another request', [422, 'idempotency_key_reused', 'This Idempotency-Key was already used with another request. Use a new key for each new request.']),
  failure('RateLimited', 'Too many requests', [429, 'rate_limited', 'Too many requests. Try again in 60 s.'], { ...headerRefs(['Retry-After', 'RetryAfter']), ...rateHeaders }),
  failure('ServerError', 'An internal error occurred', [500, 'internal', 'Something went wrong on our side. Try again, and give the request id to your operator if it happens again.']),
  failure('Unavailable', 'Stead cannot respond right now. Try again later', [503, 'unavailable', 'Stead cannot respond right now. Try again in a moment.'], headerRefs(['Retry-After', 'RetryAfter'])),
  failure('DiskFull', 'The disk is full, so Stead cannot write', [507, 'disk_full', "The server's disk is full, so nothing was changed. You can still read. Delete data that you do not need, or ask your operator for more space."], headerRefs(['Retry-After', 'RetryAfter'])),
])

const schemaOfProblem = { $ref: '#/components/schemas/Problem' }

const described = ({ description, headers, example }: Failure) => ({
  description,
  headers,
  content: { 'application/json': { schema: schemaOfProblem, example: errorBody(example) } },
})

/**
 * Joins paths that differ only in the names of their parameters, because they are one path (OpenAPI 3.1 §4.8.8). The
 * names of the first one stay.
 */
function joinSamePaths(paths: Record<string, Record<string, Described>>): Record<string, Record<string, Described>> {
  const joined = new Map<string, { path: string; item: Record<string, Described> }>()
  for (const [path, item] of Object.entries(paths)) {
    const shape = path.replace(/\{\w+\}/g, '{}')
    const first = joined.get(shape)
    if (!first) joined.set(shape, { path, item })
    else Object.assign(first.item, renamed(item, namesIn(path), namesIn(first.path)))
  }
  return Object.fromEntries([...joined.values()].map(({ path, item }) => [path, item]))
}

const namesIn = (path: string): string[] => [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string)

function renamed(item: Record<string, Described>, from: string[], to: string[]): Record<string, Described> {
  for (const described of Object.values(item))
    for (const parameter of described.parameters ?? [])
      if (parameter.in === 'path') parameter.name = to[from.indexOf(parameter.name as string)]
  return item
}

/** Names bodies after their operation, because generators create types from named schemas. */
function describeBody({ requestBody, operationId }: Described): void {
  if (!requestBody) return
  const contents = Object.values(requestBody.content)
  const required = contents[0]?.schema?.required
  requestBody.required = Array.isArray(required) && required.length > 0
  for (const { schema } of contents) if (schema?.type === 'object') schema.title ??= `${capitalised(operationId)}Body`
}

const capitalised = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1)

/** Returns whether an endpoint changes something, in a transaction whose commit may be refused or lost. */
export const changes = ({ method, reads, writes }: Endpoint): boolean => writes === true || (method !== 'GET' && !reads)

function describeResponses(described: Described, endpoint: Endpoint): void {
  const isCounted = endpoint.access !== 'public' || endpoint.rate === 'address'
  for (const [status, response] of Object.entries(described.responses)) {
    if ('$ref' in response) continue
    const shared = failures[status]
    const isEnvelope = Object.values(response.content ?? {}).some(({ schema }) => schema?.$ref !== undefined)
    if (shared && isEnvelope) {
      described.responses[status] = { $ref: `#/components/responses/${shared.name}` }
      continue
    }
    const isSuccess = status.startsWith('2')
    if (shared) response.description = shared.description
    response.headers = {
      ...(shared?.headers ?? common),
      ...(isCounted ? rateHeaders : {}),
      ...(isSuccess && endpoint.starts ? headerRefs(['Operation-Id', 'OperationId']) : {}),
      ...(isSuccess && endpoint.etag ? headerRefs(['ETag', 'ETag']) : {}),
      ...(isSuccess && takesKey(endpoint) ? headerRefs(['Idempotency-Replayed', 'IdempotencyReplayed']) : {}),
    }
    for (const { schema } of Object.values(response.content ?? {}))
      if (schema?.description === response.description) delete schema?.description
  }
  if (endpoint.etag)
    described.responses['304'] = {
      description: "The client's copy is current",
      headers: { ...common, ...headerRefs(['ETag', 'ETag']) },
    }
}

function addParameters(described: Described, endpoint: Endpoint): void {
  const added = [
    ...(takesKey(endpoint) ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : []),
    ...(endpoint.etag ? [{ $ref: '#/components/parameters/IfNoneMatch' }] : []),
  ]
  if (added.length > 0) described.parameters = [...(described.parameters ?? []), ...added]
}

/** Adds examples for bodies, answers, and path parameters. */
function addExamples(
  { requestBody, responses, parameters = [] }: Described,
  endpoint: Endpoint,
  schemas: Schemas,
): void {
  for (const content of Object.values(requestBody?.content ?? {}))
    content.example = exampleOf(content.schema as object, schemas, 'sent')
  for (const parameter of parameters)
    if (parameter.in === 'path') parameter.example ??= exampleOf(parameter.schema as object, schemas, 'sent')
  for (const [status, response] of Object.entries(responses)) {
    const problem = status === '401' ? undefined : failures[status]?.example
    for (const content of Object.values(('content' in response && response.content) || {}))
      content.example =
        problem && endpoint.failure
          ? endpoint.failure.body(problem)
          : exampleOf(content.schema as object, schemas, 'answered')
  }
}

/** Moves every object schema that has a title to the components, deepest first, and refers to it. */
function nameSchemas(node: unknown, schemas: Record<string, Schema>): unknown {
  if (Array.isArray(node)) return node.map((entry) => nameSchemas(entry, schemas))
  if (typeof node !== 'object' || node === null) return node
  const copy = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, nameSchemas(value, schemas)]))
  const { title, ...schema } = copy as Schema
  const types = [schema.type].flat()
  if (typeof title !== 'string' || !types.includes('object')) return copy
  const named = { ...schema, type: 'object' }
  const known = schemas[title]
  if (known && JSON.stringify(known) !== JSON.stringify(named)) throw new Error(`Two schemas have the title ${title}`)
  schemas[title] = named
  const reference = { $ref: `#/components/schemas/${title}` }
  return types.includes('null') ? { anyOf: [reference, { type: 'null' }] } : reference
}
