import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type TestApi, testApi } from '../support/api.ts'
import { problemOf } from './problems.ts'
import { apiEndpoints } from './walk.ts'

let api: TestApi
beforeAll(async () => {
  api = await testApi('sqlite')
})
afterAll(() => api.close())

it('openapi/openapi.json is what the code describes (else: npm run openapi)', async () => {
  const served = (await api.app.inject({ url: '/openapi.json' })).json()
  const committed = JSON.parse(readFileSync('openapi/openapi.json', 'utf8'))
  expect({ ...served, info: { ...served.info, version: committed.info.version } }).toEqual(committed)
})

it('has every endpoint, and nothing about this machine or the code', async () => {
  const { body } = await api.app.inject({ url: '/openapi.json' })
  for (const { id } of apiEndpoints) expect(body).toContain(`"operationId":"${id}"`)
  expect(body).not.toMatch(/x-fault|127\.0\.0\.1|localhost|[^"]:80\d\d|\/(home|root|tmp|srv)\//)
  const { paths } = JSON.parse(body)
  const shapes = Object.keys(paths).map((path) => path.replace(/\{\w+\}/g, '{}'))
  expect(new Set(shapes).size).toBe(shapes.length)
})

interface Schema {
  $ref?: string
  type?: string | string[]
  format?: string
  enum?: unknown[]
  examples?: unknown[]
  default?: unknown
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  anyOf?: Schema[]
}
type Content = Record<string, { schema: Schema; example: unknown }>
interface Described {
  operationId: string
  parameters?: { name: string; schema?: Schema }[]
  requestBody?: { content: Content }
  responses: Record<string, { content?: Content }>
}

const document = JSON.parse(readFileSync('openapi/openapi.json', 'utf8'))
const described = Object.values<Record<string, Described>>(document.paths).flatMap((item) => Object.values(item))

/** All schemas of requests and answers, by kind. */
const contents: (readonly [string, Content[string]])[] = [
  ...described.flatMap(({ operationId, requestBody, responses }) => [
    ...Object.entries(requestBody?.content ?? {}).map(
      ([type, each]) => [`body of ${operationId}, ${type}`, each] as const,
    ),
    ...Object.entries(responses).flatMap(([status, { content = {} }]) =>
      Object.values(content).map((each) => [`${status} of ${operationId}`, each] as const),
    ),
  ]),
  ...Object.entries<{ content: Content }>(document.components.responses).flatMap(([name, { content }]) =>
    Object.values(content).map((each) => [name, each] as const),
  ),
]

const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false })
ajv.addSchema({ $id: 'openapi', components: { schemas: document.components.schemas } })

it.each(contents)('%s has an example that its schema allows', (_what, { schema, example }) => {
  const text = JSON.stringify(schema).replaceAll('"#/components', '"openapi#/components')
  const validate = ajv.compile(JSON.parse(text))
  expect(example).toBeDefined()
  expect(validate(example) ? [] : validate.errors).toEqual([])
})

it('the examples of failures match the catalogue', () => {
  const failures = described.flatMap(({ responses }) => Object.entries(responses))
  const statuses = new Map(
    failures.map(([status, response]) => [(response as { $ref?: string }).$ref?.split('/').at(-1), status]),
  )
  for (const [name, { content }] of Object.entries<{ content: Content }>(document.components.responses)) {
    const example = content['application/json']?.example as { code: string }
    const answer = { statusCode: Number(statuses.get(name)), body: JSON.stringify(example) }
    expect([name, problemOf(answer)]).toEqual([name, example.code])
  }
})

interface Part {
  readonly path: string
  readonly schema: Schema
  /** Whether the parent may omit it. */
  readonly isOptional: boolean
  /** Whether its list has an example. */
  readonly isShown: boolean
}

/** Walks a schema with its parts, without named schemas. */
function parts(path: string, schema: Schema, { isOptional = false, isShown = false } = {}): Part[] {
  const { properties = {}, required = [], items, anyOf = [] } = schema
  return [
    { path, schema, isOptional, isShown },
    ...Object.entries(properties).flatMap(([name, each]) =>
      parts(`${path}.${name}`, each, { isOptional: !required.includes(name) }),
    ),
    ...(items ? parts(`${path}[]`, items, { isOptional, isShown: isShown || schema.examples !== undefined }) : []),
    ...anyOf.flatMap((each) => parts(path, each, { isOptional, isShown })),
  ]
}
const isA = (type: string, { type: types }: Schema): boolean => [types].flat().includes(type)

const ofNamed = Object.entries<Schema>(document.components.schemas).flatMap(([name, schema]) => parts(name, schema))
const ofContents = contents.flatMap(([what, { schema }]) => parts(what, schema))
const pathsOf = (list: readonly Part[]) => list.map(({ path }) => path)

it('objects except envelopes have names, from which generators create types', () => {
  const isEnvelope = ({ schema }: Part) => schema.properties?.errors !== undefined
  const nested = ofNamed.filter(({ path }) => /[.[]/.test(path))
  const inline = [...nested, ...ofContents.filter((part) => !isEnvelope(part))]
  expect(pathsOf(inline.filter(({ schema }) => isA('object', schema)))).toEqual([])
  expect(pathsOf(ofNamed)).toEqual(
    expect.arrayContaining(['Problem', 'Account', 'Token', 'Addon', 'Site', 'NewSite', 'Operation']),
  )
})

it('texts have their own example, except optional ones of requests', () => {
  const bare = [...ofNamed, ...ofContents].filter(
    ({ schema, isOptional, isShown }) =>
      // The bytes of a file have no example.
      isA('string', schema) &&
      schema.format !== 'binary' &&
      !schema.enum &&
      !schema.examples &&
      !isOptional &&
      !isShown,
  )
  expect(pathsOf(bare)).toEqual([])
})

it('nothing has a default: generators would make it required', () => {
  const parameters = described.flatMap(({ operationId, parameters = [] }) =>
    parameters.flatMap(({ name, schema }) => (schema ? parts(`${operationId} ${name}`, schema) : [])),
  )
  expect(pathsOf([...ofNamed, ...ofContents, ...parameters].filter(({ schema }) => 'default' in schema))).toEqual([])
})
