/** Shared by the contract tests: scenes, requests from contracts, and the check of responses against the document. */
import { setTimeout as pause } from 'node:timers/promises'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { FastifyInstance } from 'fastify'
import type { ExpressionBuilder } from 'kysely'
import type { InjectOptions, Response } from 'light-my-request'
import { expect } from 'vitest'
import { apiEndpoints } from '../../src/app.ts'
import { jobs } from '../../src/jobs.ts'
import type { DialectName } from '../../src/platform/db/database.ts'
import type { Schema } from '../../src/platform/db/schema.ts'
import type { Endpoint } from '../../src/platform/http/endpoint.ts'
import type { Access } from '../../src/resources/access/access.ts'
import { roles } from '../../src/resources/access/roles.ts'
import { ofBrowser, type Person, type TestApi, testApi } from '../support/api.ts'
import type { Example, Scene } from '../support/samples.ts'
import { examples } from './contracts.ts'
import { declaredOf, problemOf } from './problems.ts'

export { apiEndpoints }
export const accessOf = (endpoint: Endpoint): Access => endpoint.access as Access

/** The path parameter that names the site of a site endpoint. */
export const siteParam = (endpoint: Endpoint): string => (endpoint.params?.properties.site_id ? 'site_id' : 'id')

/** For `it.each`, by name. */
export const cases = (list: readonly Endpoint[]) => list.map((endpoint) => [endpoint.id, endpoint] as const)

/** Returns whether its path names a site. */
export const isOnSite = (endpoint: Endpoint): boolean =>
  typeof endpoint.access === 'object' && 'site' in (endpoint.access as object)

export interface Walk {
  readonly api: TestApi
  /** Needs the first account, which operates the installation. */
  readonly stranger: Person
  /**
   * Creates owner and collaborator with a new site.
   * @param of an account that already has sites; default: a new account
   */
  scene(of?: Person): Promise<Scene>
  /** Returns the request that an example describes, or the schema. */
  requestOf(endpoint: Endpoint, scene: Scene): Promise<InjectOptions>
  /** Returns the request of a given example, by the owner of the scene unless it names another caller. */
  requestFor(endpoint: Endpoint, scene: Scene, example: Example, person?: Person): InjectOptions
  /**
   * Sends it, and checks that the document describes the answer, and the contract declares its failure.
   * @param app another instance of the API on the same database
   */
  send(endpoint: Endpoint, request: InjectOptions, app?: FastifyInstance): Promise<Response>
  /** Makes later operations on this site fail, permanently or so that a retry could help. */
  failWork(siteId: number, how?: { forGood: boolean }): void
  /** Makes later operations on this site wait, and those on hosts. */
  leaveWork(siteId: number): void
  /** Waits until no background work is left. */
  settled(): Promise<void>
  close(): Promise<void>
}

export async function walk(dialect: DialectName): Promise<Walk> {
  const api = await testApi(dialect)
  await api.app.ready()
  const check = documentCheck(api)
  const worker = finishWork(api)
  const stranger = await api.person('stranger@example.com')
  let number = 0
  return {
    api,
    stranger,
    async scene(of) {
      number++
      const owner = of ?? (await api.person(`owner-${number}@example.com`))
      const friend = await api.person(`friend-${number}@example.com`)
      const siteId = await api.site(owner, `scene-${number}`)
      const collaboratorId = await api.collaborate(friend, siteId, roles)
      return { api, owner, friend, siteId, collaboratorId, number }
    },
    requestOf: async (endpoint, scene) =>
      toRequest(
        endpoint,
        scene,
        (await examples[endpoint.id]?.(scene)) ?? {},
        isOfOperator(endpoint) ? stranger : scene.owner,
      ),
    requestFor: (endpoint, scene, example, person = scene.owner) => toRequest(endpoint, scene, example, person),
    async send(endpoint, request, app = api.app) {
      const response = await answered(app, request)
      check(endpoint, response)
      return response
    },
    failWork: worker.fail,
    leaveWork: worker.leave,
    settled: worker.settled,
    async close() {
      await worker.stop()
      await api.close()
    },
  }
}

function toRequest(endpoint: Endpoint, scene: Scene, example: Example, person: Person): InjectOptions {
  const body = example.body ?? (endpoint.body ? sample(endpoint.body as never) : undefined)
  const params = {
    ...(isOnSite(endpoint) && { [siteParam(endpoint)]: scene.siteId }),
    site_id: scene.siteId,
    ...example.params,
  }
  const path = endpoint.path.replace(/\{(\w+)\}/g, (_, name) =>
    encodeURIComponent(String((params as Example['params'])?.[name] ?? 1)),
  )
  const query = new URLSearchParams(example.query).toString()
  return {
    method: endpoint.method,
    url: query ? `${path}?${query}` : path,
    headers: {
      ...(endpoint.access !== 'public' && credentialsOf(person, isOfSession(endpoint))),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { payload: JSON.stringify(body) }),
  }
}

/** Returns whether only the operator of the installation may call it. */
export const isOfOperator = (endpoint: Endpoint): boolean => {
  const access = accessOf(endpoint)
  return typeof access === 'object' && 'account' in access && access.account === 'operator'
}

/** Returns whether only people in a browser may call it. */
export const isOfSession = (endpoint: Endpoint): boolean => {
  const access = accessOf(endpoint)
  return typeof access === 'object' && 'account' in access && access.account === 'session'
}

type Credentials = Pick<Person, 'token' | 'sessionToken'>
const credentialsOf = ({ token, sessionToken }: Credentials, bySession: boolean): Record<string, string> =>
  bySession ? ofBrowser(sessionToken) : { authorization: `Bearer ${token}` }

/** Returns the same request by another caller. */
export function as(person: Credentials | undefined, request: InjectOptions): InjectOptions {
  const { authorization: _, cookie, ...headers } = request.headers as Record<string, string>
  return { ...request, headers: { ...headers, ...(person && credentialsOf(person, cookie !== undefined)) } }
}

/** @throws without an answer within 20 s, because the request hangs */
async function answered(app: FastifyInstance, request: InjectOptions): Promise<Response> {
  const late = new AbortController()
  const deadline = pause(20_000, undefined, { signal: late.signal }).then(() => {
    throw new Error(`No answer to ${request.method} ${String(request.url)}`)
  })
  try {
    return await Promise.race([app.inject(request), deadline])
  } finally {
    late.abort()
    deadline.catch(() => {})
  }
}

interface SampleSchema {
  type?: string | string[]
  enum?: unknown[]
  format?: string
  minimum?: number
  minLength?: number
  minItems?: number
  items?: SampleSchema
  properties?: Record<string, SampleSchema>
  required?: string[]
}

/** Returns a small value that a schema allows, without regard to patterns and meaning. */
export function sample(schema: SampleSchema): unknown {
  const type = [schema.type].flat()[0]
  if (schema.enum) return schema.enum[0]
  if (type === 'object')
    return Object.fromEntries(
      (schema.required ?? []).map((name) => [name, sample(schema.properties?.[name] as SampleSchema)]),
    )
  if (type === 'array') return Array.from({ length: schema.minItems ?? 0 }, () => sample(schema.items as SampleSchema))
  if (type === 'integer' || type === 'number') return schema.minimum ?? 1
  if (type === 'boolean') return true
  if (schema.format === 'email') return 'somebody@example.com'
  return 'sample'.padEnd(schema.minLength ?? 0, 'x')
}

export function documentCheck(api: TestApi): (endpoint: Endpoint, response: Response) => void {
  const document = api.app.swagger() as unknown as { paths: Record<string, Record<string, { operationId: string }>> }
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false })
  ajv.addSchema({ $id: 'openapi', ...JSON.parse(JSON.stringify(document)) })
  const places = new Map<string, string>()
  for (const [path, item] of Object.entries(document.paths))
    for (const [method, { operationId }] of Object.entries(item))
      places.set(
        operationId,
        `openapi#/paths/${encodeURIComponent(path.replaceAll('~', '~0').replaceAll('/', '~1'))}/${method}/responses`,
      )
  return (endpoint, response) => {
    const status = response.statusCode
    const label = `${endpoint.id} answers ${status} ${response.body.slice(0, 300)}`
    const place = `${places.get(endpoint.id)}/${status}`
    const described = resolve(ajv, place)
    expect(described, `${label}: not described`).toBeDefined()
    if (status === 304 || (described?.content === undefined && response.body === '')) return
    const contents = Object.entries(described?.content ?? {}) as [string, { schema: object }][]
    const sent = String(response.headers['content-type']).split(';')[0]
    expect(
      contents.map(([each]) => each),
      label,
    ).toContain(sent)
    const [type, { schema }] = contents.find(([each]) => each === sent)!
    if (type !== 'application/json') return
    if (status >= 400) expectDeclared(endpoint, response)
    const validate = compiled(ajv, `${place}`, schema)
    expect(validate(response.json()) ? [] : validate.errors, label).toEqual([])
  }
}

function expectDeclared(endpoint: Endpoint, response: Response): void {
  const problem = problemOf(response)
  if (problem === undefined) expect(endpoint.failure, `${endpoint.id}: ${response.body}`).toBeDefined()
  else expect(declaredOf(endpoint), `${endpoint.id} does not declare`).toContain(problem)
}

interface DescribedResponse {
  $ref?: string
  content?: Record<string, { schema: object }>
}

function resolve(ajv: Ajv2020, place: string): DescribedResponse | undefined {
  const root = ajv.getSchema('openapi')?.schema as object
  const [, pointer = '/none'] = place.split('#')
  const at = (path: string): DescribedResponse | undefined =>
    path
      .split('/')
      .slice(1)
      .map((key) => decodeURIComponent(key).replaceAll('~1', '/').replaceAll('~0', '~'))
      .reduce((node: unknown, key) => (node as Record<string, unknown> | undefined)?.[key], root) as never
  const found = at(pointer)
  return found?.$ref ? at(found.$ref.slice(1)) : found
}

const validators = new WeakMap<object, ReturnType<Ajv2020['compile']>>()

function compiled(ajv: Ajv2020, id: string, schema: object): ReturnType<Ajv2020['compile']> {
  const known = validators.get(schema)
  if (known) return known
  const text = JSON.stringify(schema).replaceAll('"#/components', '"openapi#/components')
  const made = ajv.compile({ ...JSON.parse(text), $id: `of ${encodeURIComponent(id)}` })
  validators.set(schema, made)
  return made
}

const following = [...jobs.values()].filter(({ follows }) => follows).map(({ name }) => name)

/**
 * Stands in for hosts: completes requested operations soon unless they are delayed, or fails them if they should fail.
 */
function finishWork({ database }: TestApi): {
  fail(siteId: number, how?: { forGood: boolean }): void
  leave(siteId: number): void
  settled(): Promise<void>
  stop(): Promise<void>
} {
  let isStopped = false
  const failing = new Map<number, boolean>()
  const left = new Set<number>()
  const isDue = ({ eb, and, or }: ExpressionBuilder<Schema, 'operations'>) =>
    and([
      eb('state', '=', 'queued'),
      eb('run_at', '<', Date.now() + 3600_000),
      or([eb('site_id', 'is', null), eb('site_id', 'not in', [0, ...left])]),
      // Others would wait for the work of these sites.
      ...(left.size > 0 ? [eb('type', 'not in', following)] : []),
    ])
  const isWaiting = async () =>
    (await database.read.selectFrom('operations').select('id').where(isDue).executeTakeFirst()) !== undefined
  const finish = () =>
    database.transaction(async (tx) => {
      const open = tx.updateTable('operations').where(isDue)
      const end = { finished_at: Date.now() }
      for (const [siteId, forGood] of failing) {
        const failed = { ...end, state: 'failed', error: 'It was to fail', is_permanent: forGood ? 1 : 0 } as const
        // An operation outside the site's queue names the site only in its input.
        const ofSite = open
          .set(failed)
          .where(({ eb, or }) => or([eb('site_id', '=', siteId), eb('input', '=', JSON.stringify({ siteId }))]))
        await ofSite.execute()
      }
      await open.set({ ...end, state: 'succeeded' }).execute()
    })
  const work = (async () => {
    while (!isStopped) {
      if (await isWaiting()) await finish()
      await pause(20)
    }
  })()
  return {
    fail: (siteId, { forGood } = { forGood: false }) => void failing.set(siteId, forGood),
    leave: (siteId) => void left.add(siteId),
    async settled() {
      while (await isWaiting()) await pause(5)
    },
    async stop() {
      isStopped = true
      await work
    },
  }
}
