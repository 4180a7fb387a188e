import type { Endpoint } from './endpoint.ts'

/*
 * What the routes say is repeated in every endpoint by the plugin that collects it. Here it becomes a document that people and
 * generators can read: what is common is described once, objects have names.
 */

type Json = Record<string, unknown>
type Schema = Json & { title?: string; type?: unknown }
interface Response {
  description?: string
  headers?: Json
  content?: Record<string, { schema?: Schema }>
}
interface Described {
  operationId: string
  parameters?: Json[]
  requestBody?: { required?: boolean; content: Record<string, { schema?: Schema }> }
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
  const failures = Object.values(failureResponses)
  const responses = Object.fromEntries(failures.map(({ name, ...response }) => [name, response]))
  document.components = { ...document.components, schemas, headers, parameters, responses }
}

const header = (type: string, description: string) => ({ description, schema: { type } })

const headers = {
  XRequestId: header('string', 'Names the request in the log; taken from the request when it brought one'),
  RateLimit: header('string', 'Requests left and seconds until the window ends (draft-ietf-httpapi-ratelimit-headers)'),
  RateLimitPolicy: header('string', 'Requests a window, and its seconds'),
  RetryAfter: header('integer', 'Seconds'),
  OperationId: header('integer', 'The background operation that was started: GET /v1/operations/{id}'),
  ETag: header('string', 'Changes with the resource; for If-None-Match'),
  IdempotencyReplayed: header('string', '`true`: the response of the first request with this Idempotency-Key'),
  SteadIgnored: {
    ...header(
      'string',
      'Only when the request has fields or query parameters that the operation does not know, and has passed over: a list (RFC 9651) of their names, each with where it was (`in`), and with what may have been meant (`did-you-mean`) and where that belongs (`send-in`). The token `and-more` at its end stands for those that are too many to name.',
    ),
    example: '"phpVersion";in=body;did-you-mean="php_version"',
  },
  WwwAuthenticate: header('string', 'RFC 6750 for bearer tokens, RFC 7617 for clients'),
}

const parameters = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description: 'Kept for 24 h: the same request with the same key is done once and answered alike.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description: 'ETag of what the client has; the answer is 304 while it is current.',
    schema: { type: 'string' },
  },
}

const headerRefs = (...named: [string, keyof typeof headers][]) =>
  Object.fromEntries(named.map(([name, key]) => [name, { $ref: `#/components/headers/${key}` }]))

/** Of every answer. */
const common = headerRefs(['X-Request-Id', 'XRequestId'], ['Stead-Ignored', 'SteadIgnored'])
const rateHeaders = headerRefs(['RateLimit', 'RateLimit'], ['RateLimit-Policy', 'RateLimitPolicy'])

function failure(name: string, description: string, extra: Json = {}) {
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/Problem' } } }
  return { name, description, headers: { ...common, ...extra }, content }
}

const failureResponses: Record<string, { name: string; description: string; headers: Json; content: Json }> = {
  400: failure('InvalidRequest', 'Invalid input, or a rule or state that forbids it'),
  401: failure(
    'Unauthorized',
    'The access token is missing, unknown, expired or revoked',
    headerRefs(['WWW-Authenticate', 'WwwAuthenticate']),
  ),
  403: failure('Forbidden', 'A role on the site, or the scope `owner`, is missing'),
  404: failure('NotFound', 'Unknown, or not visible to the caller'),
  409: failure(
    'InProgress',
    'The first request with this Idempotency-Key is still running, or the site cannot do this as it stands',
  ),
  413: failure('TooLarge', 'The request body is too large'),
  415: failure('UnsupportedMediaType', 'The request body is not JSON'),
  422: failure('KeyReused', 'The Idempotency-Key was used with another request'),
  429: failure('RateLimited', 'Too many requests', {
    ...headerRefs(['Retry-After', 'RetryAfter']),
    ...rateHeaders,
  }),
  500: failure('ServerError', 'Something went wrong inside'),
  503: failure('Unavailable', 'Not now; try again', headerRefs(['Retry-After', 'RetryAfter'])),
  507: failure('DiskFull', 'Nothing could be written: the disk is full', headerRefs(['Retry-After', 'RetryAfter'])),
}

/** Paths that differ in the names of their parameters alone are one path (OpenAPI 3.1 §4.8.8). The first one's names stay. */
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

function describeBody({ requestBody }: Described): void {
  if (!requestBody) return
  const [first] = Object.values(requestBody.content)
  const required = first?.schema?.required
  requestBody.required = Array.isArray(required) && required.length > 0
}

/** Changes something: a transaction, whose commit may be refused or lost. */
export const changes = ({ method, reads }: Endpoint): boolean => method !== 'GET' && !reads

/** Whatever is no GET takes an `Idempotency-Key`, on behalf of a caller; that of a POST which only reads counts, too. */
export const takesKey = (endpoint: Endpoint): boolean => endpoint.method !== 'GET' && endpoint.access !== 'public'

function describeResponses(described: Described, endpoint: Endpoint): void {
  const isCounted = endpoint.access !== 'public' || endpoint.rate === 'address'
  for (const [status, response] of Object.entries(described.responses)) {
    if ('$ref' in response) continue
    const shared = failureResponses[status]
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
      description: 'What the client has is current',
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

/** Moves every object schema that has a title to the components, and refers to it. Deepest first. */
function nameSchemas(node: unknown, schemas: Record<string, Schema>): unknown {
  if (Array.isArray(node)) return node.map((entry) => nameSchemas(entry, schemas))
  if (typeof node !== 'object' || node === null) return node
  const copy = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, nameSchemas(value, schemas)]))
  const { title, ...schema } = copy as Schema
  if (typeof title !== 'string' || schema.type !== 'object') return copy
  const known = schemas[title]
  if (known && JSON.stringify(known) !== JSON.stringify(schema)) throw new Error(`Two schemas have the title ${title}`)
  schemas[title] = schema
  return { $ref: `#/components/schemas/${title}` }
}
