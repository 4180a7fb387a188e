/**
 * Every endpoint of the API, from the table that defines the API itself, so that a new one is covered without a change
 * here. If it needs a body or an ID that the schema does not describe, it gets an example in the `<resource>.contract.ts`
 * of its resource. Roles and scopes: `permissions.test.ts`.
 */
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Endpoint } from '../../src/platform/http/endpoint.ts'
import { backupIn } from '../../src/resources/backups/backups.fixture.ts'
import { codeNow, rightCredential, withLink } from '../../src/resources/sign-in/sign-in.fixture.ts'
import { dialects } from '../support/database.ts'
import type { Scene } from '../support/samples.ts'
import { examples } from './contracts.ts'
import { accessOf, apiEndpoints, as, cases, isOfOperator, isOnSite, siteParam, type Walk, walk } from './walk.ts'

const guarded = apiEndpoints.filter(({ access }) => access !== 'public')
const bearer = 'Bearer realm="stead"'

describe.each(dialects.filter(({ skip }) => !skip))('endpoints on $dialect', ({ dialect }) => {
  let tour: Walk
  beforeAll(async () => {
    tour = await walk(dialect)
  })
  afterAll(() => tour.close())

  it.each(cases(guarded))('401 %s: without a token, and with an invalid one', async (_id, endpoint) => {
    const scene = await tour.scene()
    const request = await tour.requestOf(endpoint, scene)
    const without = await tour.send(endpoint, as(undefined, request))
    expect([without.statusCode, without.headers['www-authenticate']]).toEqual([401, bearer])
    const wrong = await tour.send(endpoint, as({ ...scene.owner, token: 'unknown', sessionToken: 'unknown' }, request))
    expect([wrong.statusCode, wrong.headers['www-authenticate']]).toEqual([401, `${bearer}, error="invalid_token"`])
  })

  it.each(cases(apiEndpoints))('2xx %s: the owner gets what the document describes', async (_id, endpoint) => {
    const request = await tour.requestOf(endpoint, await tour.scene())
    const response = await tour.send(endpoint, request)
    const hint = `${endpoint.id}: ${response.body} (does it need an example in the contract of its resource?)`
    expect(response.statusCode, hint).toBe(endpoint.status ?? 200)
    expect(response.headers['x-request-id']).toBeTruthy()
    expect(response.headers['stead-ignored'], hint).toBeUndefined()
    if (endpoint.etag) expect(response.headers.etag).toMatch(/^".+"$/)
    if (endpoint.method !== 'GET' || endpoint.writes || /^watch/.test(endpoint.id)) return
    const head = await tour.api.app.inject({ ...request, method: 'HEAD' })
    expect([head.statusCode, head.body, head.headers.etag], 'HEAD').toEqual([
      response.statusCode,
      '',
      response.headers.etag,
    ])
  })

  it.each(Object.entries(documentedBodies()).filter(([, body]) => typeof body === 'object'))(
    '2xx %s: accepts the exact body in the document',
    async (id, body) => {
      const endpoint = apiEndpoints.find((each) => each.id === id) as Endpoint
      const scene = await tour.scene()
      const example = (await examples[id]?.(scene)) ?? {}
      const isAboutOther = isOfOperator(endpoint)
      const named = isAboutOther ? example.body : await namedIn(body, scene)
      const by = isAboutOther ? tour.stranger : undefined
      const request = tour.requestFor(endpoint, scene, { ...example, body: { ...body, ...named } }, by)
      const response = await tour.send(endpoint, request)
      expect([response.statusCode, response.headers['stead-ignored']], response.body).toEqual([
        endpoint.status ?? 200,
        undefined,
      ])
    },
  )

  it.each(cases(guarded.filter(isOnSite)))(
    '404 %s: a foreign site is like one that does not exist',
    async (_id, endpoint) => {
      const scene = await tour.scene()
      const request = await tour.requestOf(endpoint, scene)
      const foreign = await tour.send(endpoint, as(tour.stranger, request))
      const url = endpoint.path.replace(`{${siteParam(endpoint)}}`, '999999999').replace(/\{\w+\}/g, '1')
      const unknown = await tour.send(endpoint, as(tour.stranger, { ...request, url }))
      expect([foreign.statusCode, foreign.body]).toEqual([404, unknown.body])
      expect(Object.keys(foreign.headers).sort()).toEqual(Object.keys(unknown.headers).sort())
    },
  )

  it.each(cases(guarded.filter(namesPartOfSite)))('404 %s: a thing of another site', async (_id, endpoint) => {
    const [scene, other] = [await tour.scene(), await tour.scene()]
    const request = await tour.requestOf(endpoint, scene)
    const url = String(request.url).replace(`/sites/${scene.siteId}/`, `/sites/${other.siteId}/`)
    const response = await tour.send(endpoint, as(other.owner, { ...request, url }))
    expect(response.statusCode, response.body).toBe(404)
  })

  it.each(cases(guarded.filter(namesIntegers)))('404 %s: invalid IDs', async (_id, endpoint) => {
    const scene = await tour.scene()
    const request = await tour.requestOf(endpoint, scene)
    const integers = Object.entries(endpoint.params?.properties ?? {}).filter(
      ([, schema]) => (schema as { type?: string }).type === 'integer',
    )
    for (const [name, schema] of integers)
      for (const id of [
        'abc',
        '1.5',
        '-1',
        '0',
        '99999999999999999999',
        '9007199254740992',
        '1e3',
        '%00',
        '%20',
        'null',
      ]) {
        if (Number(id) === -1 && (schema as { minimum?: number }).minimum === -1) continue
        const url = endpoint.path.replace(`{${name}}`, id).replace(/\{\w+\}/g, String(scene.siteId))
        const response = await tour.send(endpoint, { ...request, url })
        expect(response.statusCode, `${name}=${id}: ${response.body}`).toBe(404)
      }
  })

  it.each(cases(guarded.filter(isOnManySites)))('404 %s: one foreign site among several', async (_id, endpoint) => {
    const [scene, other] = [await tour.scene(), await tour.scene()]
    const request = await tour.requestOf(endpoint, scene)
    const body = { ...JSON.parse(request.payload as string), siteIds: [scene.siteId, other.siteId] }
    expect((await tour.send(endpoint, { ...request, payload: JSON.stringify(body) })).statusCode).toBe(404)
  })
})

type Body = Record<string, unknown>

function documentedBodies(): Record<string, Body> {
  const { paths } = JSON.parse(readFileSync('openapi/openapi.json', 'utf8'))
  const described = Object.values(paths).flatMap((item) => Object.values(item as object))
  const withBody = described.filter(({ requestBody }) => requestBody)
  return Object.fromEntries(
    withBody.map(({ operationId, requestBody }) => [
      operationId,
      Object.values<{ example: Body }>(requestBody.content)[0]?.example,
    ]),
  )
}

/** Checks that an example cannot express: other credentials and other sites. */
async function namedIn(body: Body, { api, owner, siteId, number }: Scene): Promise<Body> {
  return {
    ...('client_id' in body && { client_id: owner.clientId, client_secret: owner.clientSecret }),
    ...('email' in body && 'password' in body && { email: owner.email }),
    ...('token' in body && !('client_id' in body) && { token: await withLink(api, owner.accountId, number) }),
    ...('code' in body && !('password' in body) && { code: codeNow() }),
    ...('credential' in body && { credential: await rightCredential(api, owner.accountId, body.credential) }),
    ...('siteIds' in body && { siteIds: [siteId] }),
    ...('filesystem_id' in body && { filesystem_id: await backupIn(api, siteId, { kind: 'fs' }) }),
    ...('database_id' in body && { database_id: await backupIn(api, siteId) }),
    ...('to_site_id' in body && { from_site_id: await api.site(owner, `named-${number}`), to_site_id: siteId }),
  }
}

/** GETs that read a list, follow something, or answer everyone alike. */
const LISTS = /^list|^watch/

it.each(
  apiEndpoints
    .filter(({ method, writes, id }) => method === 'GET' && !writes && !LISTS.test(id))
    .map(({ id, etag }) => [id, etag]),
)('%s reads one resource: it has an ETag', (_id, etag) => {
  expect(etag).toBe(true)
})

function isOnManySites(endpoint: Endpoint): boolean {
  const access = accessOf(endpoint)
  return typeof access === 'object' && 'sites' in access
}

/** Such as a note, by its number. */
function namesPartOfSite(endpoint: Endpoint): boolean {
  const numbers = Object.values(endpoint.params?.properties ?? {}).filter(
    (schema) => (schema as { type?: string }).type === 'integer',
  )
  return isOnSite(endpoint) && numbers.length > 1
}

function namesIntegers({ params }: Endpoint): boolean {
  return Object.values(params?.properties ?? {}).some((schema) => (schema as { type?: string }).type === 'integer')
}
