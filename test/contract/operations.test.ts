/**
 * Every operation of the API, from the table that the API itself is made of: a new one is covered without a change here. When it needs a
 * body or an id that no schema tells, it gets an example in the `samples.fixture.ts` of its resource. Roles and scopes: `permissions.test.ts`.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Operation } from '../../src/platform/http/operation.ts'
import { dialects } from '../support/database.ts'
import { accessOf, as, operations, siteParam, type Walk, walk } from './walk.ts'

const guarded = operations.filter(({ access }) => access !== 'public')
const cases = (list: readonly Operation[]) => list.map((operation) => [operation.id, operation] as const)
const bearer = 'Bearer realm="stead"'

describe.each(dialects.filter(({ skip }) => !skip))('operations on $dialect', ({ dialect }) => {
  let tour: Walk
  beforeAll(async () => {
    tour = await walk(dialect)
  })
  afterAll(() => tour.close())

  it.each(cases(guarded))('401 %s: without a token, and with one that is no good', async (_id, operation) => {
    const scene = await tour.scene()
    const request = await tour.requestOf(operation, scene)
    const without = await tour.send(operation, as(undefined, request))
    expect([without.statusCode, without.headers['www-authenticate']]).toEqual([401, bearer])
    const wrong = await tour.send(operation, as({ ...scene.owner, token: 'unknown' }, request))
    expect([wrong.statusCode, wrong.headers['www-authenticate']]).toEqual([401, `${bearer}, error="invalid_token"`])
  })

  it.each(cases(operations))('2xx %s: what the owner asks for comes as described', async (_id, operation) => {
    const response = await tour.send(operation, await tour.requestOf(operation, await tour.scene()))
    const hint = `${operation.id}: ${response.body} (does it need an example in samples.fixture.ts?)`
    expect(response.statusCode, hint).toBe(operation.status ?? 200)
    expect(response.headers['x-request-id']).toBeTruthy()
    if (operation.etag) expect(response.headers.etag).toMatch(/^".+"$/)
  })

  it.each(cases(guarded.filter(isOnSite)))(
    '404 %s: a foreign site is like one that does not exist',
    async (_id, operation) => {
      const scene = await tour.scene()
      const request = await tour.requestOf(operation, scene)
      const foreign = await tour.send(operation, as(tour.stranger, request))
      const url = operation.path.replace(`{${siteParam(operation)}}`, '999999999').replace(/\{\w+\}/g, '1')
      const unknown = await tour.send(operation, as(tour.stranger, { ...request, url }))
      expect([foreign.statusCode, foreign.body]).toEqual([404, unknown.body])
      expect(Object.keys(foreign.headers).sort()).toEqual(Object.keys(unknown.headers).sort())
    },
  )

  it.each(cases(guarded.filter(namesIntegers)))('404 %s: ids that are none', async (_id, operation) => {
    const scene = await tour.scene()
    const request = await tour.requestOf(operation, scene)
    const integers = Object.entries(operation.params?.properties ?? {})
      .filter(([, schema]) => (schema as { type?: string }).type === 'integer')
      .map(([name]) => name)
    for (const name of integers)
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
        const url = operation.path.replace(`{${name}}`, id).replace(/\{\w+\}/g, String(scene.siteId))
        const response = await tour.send(operation, { ...request, url })
        expect(response.statusCode, `${name}=${id}: ${response.body}`).toBe(404)
      }
  })

  it.each(cases(guarded.filter(isOnManySites)))('404 %s: one foreign site among the named', async (_id, operation) => {
    const [scene, other] = [await tour.scene(), await tour.scene()]
    const request = await tour.requestOf(operation, scene)
    const body = { ...JSON.parse(request.payload as string), siteIds: [scene.siteId, other.siteId] }
    expect((await tour.send(operation, { ...request, payload: JSON.stringify(body) })).statusCode).toBe(404)
  })
})

/** GETs that read a list, follow something, or are the same for everybody. */
const LISTS = /^list|^watch/

it.each(operations.filter(({ method, id }) => method === 'GET' && !LISTS.test(id)).map(({ id, etag }) => [id, etag]))(
  '%s reads one resource: it has an ETag',
  (_id, etag) => {
    expect(etag).toBe(true)
  },
)

function isOnSite(operation: Operation): boolean {
  const access = accessOf(operation)
  return typeof access === 'object' && 'site' in access
}

function isOnManySites(operation: Operation): boolean {
  const access = accessOf(operation)
  return typeof access === 'object' && 'sites' in access
}

function namesIntegers({ params }: Operation): boolean {
  return Object.values(params?.properties ?? {}).some((schema) => (schema as { type?: string }).type === 'integer')
}
