import { validateHeaderValue } from 'node:http'
import fc from 'fast-check'
import { DisplayString, parseList, Token } from 'structured-headers'
import Type from 'typebox'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Endpoint } from '../endpoint.ts'
import { pageQuery } from '../schemas.ts'
import { createLab, json, type Lab } from '../test-support.ts'
import { ignoredFields } from './ignored-fields.ts'

const common = { tag: 'Lab', summary: 'Test', access: 'any', response: Type.Unsafe<unknown>({}) }
const body = Type.Object({
  name: Type.String(),
  php_version: Type.Optional(Type.String()),
  add_to_all_new: Type.Optional(Type.Boolean()),
  site_ids: Type.Optional(Type.Array(Type.Integer())),
  plugins: Type.Optional(Type.Array(Type.Object({ path: Type.String(), version: Type.Optional(Type.String()) }))),
  free: Type.Optional(Type.Unsafe<unknown>({})),
})
const query = Type.Object({ ...pageQuery, deep: Type.Optional(Type.Boolean()) })
const handle = async (_context: unknown, input: unknown) => input
const endpoints: Endpoint[] = [
  { ...common, id: 'create', method: 'POST', path: '/v1/things', body, handle },
  { ...common, id: 'list', method: 'GET', path: '/v1/things', query, handle },
  { ...common, id: 'touch', method: 'PUT', path: '/v1/touch', handle },
  { ...common, id: 'search', method: 'POST', path: '/v1/search', query, body, handle },
  { ...common, id: 'any', method: 'POST', path: '/v1/any', anyBody: true, body, handle },
]

let lab: Lab
beforeAll(async () => {
  lab = await createLab(endpoints, { corsOrigins: ['*'] })
})
afterAll(() => lab.close())

const post = (sent: unknown, path = '/v1/things', headers = {}) => lab.inject('POST', path, json(sent, headers))
const ignoredOf = async (sent: unknown, path?: string) => (await post(sent, path)).headers['stead-ignored']

describe('Stead-Ignored', () => {
  it('is absent if everything was read', async () => {
    const full = { name: 'n', php_version: '8.1', plugins: [{ path: 'p', version: '1' }], free: { any: { thing: 1 } } }
    for (const sent of [full, { ...full, plugins: { path: 'p' } }, { name: 'n', site_ids: null }])
      expect(await ignoredOf(sent)).toBeUndefined()
    expect((await lab.inject('GET', '/v1/things?page=1&deep=0')).headers['stead-ignored']).toBeUndefined()
  })

  it.each([
    [{ phpVersion: '8.1' }, '"phpVersion";in=body;did-you-mean="php_version"'],
    [{ 'PHP-version': '8.1' }, '"PHP-version";in=body;did-you-mean="php_version"'],
    [
      { addToAllNew: 1, 'siteIds[]': 1 },
      '"addToAllNew";in=body;did-you-mean="add_to_all_new", "siteIds[]";in=body;did-you-mean="site_ids"',
    ],
    // A wrong name is reported, even if the right field was sent as well.
    [{ php_versions: 1, php_version: '8.1' }, '"php_versions";in=body'],
    [{ colour: 'red' }, '"colour";in=body'],
    [
      {
        plugins: [
          { path: 'a', versoin: 1 },
          { path: 'b', versoin: 2, x: 3 },
        ],
      },
      '"plugins[].versoin";in=body;did-you-mean="plugins[].version", "plugins[].x";in=body',
    ],
    [{ plugins: [{ path: 'a', versoin: 1 }] }, '"plugins[].versoin";in=body;did-you-mean="plugins[].version"'],
    [{ '': 1, 'a"b\\c': 2 }, '"";in=body, "a\\"b\\\\c";in=body'],
    [
      { größe: 1, 'a\r\nb: c': 2, '%"é': 3 },
      '%"gr%c3%b6%c3%9fe";in=body, %"a%0d%0ab: c";in=body, %"%25%22%c3%a9";in=body',
    ],
    [{ '\ud800': 1 }, '%"%ef%bf%bd";in=body'],
    [
      JSON.parse('{"__proto__": 1, "constructor": 2, "toString": 3}'),
      '"__proto__";in=body, "constructor";in=body, "toString";in=body',
    ],
  ])('%j: %s', async (sent, expected) => {
    const response = await post({ name: 'n', ...sent })
    expect([response.statusCode, response.headers['stead-ignored']]).toEqual([200, expected])
  })

  it('names query parameters, and fields in the wrong place', async () => {
    const of = async (method: string, url: string, sent?: object) =>
      (await lab.inject(method, url, sent && json(sent))).headers['stead-ignored']
    expect(await of('GET', '/v1/things?perPage=5&_=1')).toBe('"perPage";in=query;did-you-mean="per_page", "_";in=query')
    // For a GET, the body counts like the query.
    expect(await of('GET', '/v1/things', { page: 1, perPage: 5 })).toBe('"perPage";in=body;did-you-mean="per_page"')
    expect(await of('POST', '/v1/things?name=n', { name: 'n' })).toBe('"name";in=query;send-in=body')
    expect(await of('POST', '/v1/things?phpVersion=8.1', { name: 'n' })).toBe(
      '"phpVersion";in=query;did-you-mean="php_version";send-in=body',
    )
    // Only fields at the top level can belong elsewhere.
    expect(await of('POST', '/v1/search', { name: 'n', deep: 1, plugins: [{ path: 'p', deep: 1 }] })).toBe(
      '"deep";in=body;send-in=query, "plugins[].deep";in=body',
    )
    expect(await of('PUT', '/v1/touch?now=1', { on: true })).toBe('"now";in=query, "on";in=body')
  })

  it('is also on refusals, because the slip may be their cause', async () => {
    const response = await post({ Name: 'n' })
    expect([response.statusCode, response.headers['stead-ignored']]).toEqual([
      400,
      '"Name";in=body;did-you-mean="name"',
    ])
  })

  it('is on the answer to a repeated key, and of endpoints that accept any body', async () => {
    for (const replayed of [undefined, 'true']) {
      const { headers } = await post({ name: 'n', x: 1 }, '/v1/things', { 'idempotency-key': 'once' })
      expect([headers['idempotency-replayed'], headers['stead-ignored']]).toEqual([replayed, '"x";in=body'])
    }
    expect(await ignoredOf({ nam: 1, name: 'n' }, '/v1/any')).toBe('"nam";in=body')
    expect(await ignoredOf('[1, 2]', '/v1/any')).toBeUndefined()
  })

  it('is readable by pages of other origins', async () => {
    const { headers } = await lab.inject('GET', '/v1/things?x=1', { headers: { origin: 'https://panel.example.com' } })
    expect(headers['access-control-expose-headers']).toContain('stead-ignored')
  })

  it('stays below 1,000 bytes for thousands of names, and for long ones', async () => {
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`phpVersion${index}`, 1]))
    const ignored = (await ignoredOf({ name: 'n', ...many })) as string
    expect(ignored).toMatch(/^"phpVersion0";in=body;did-you-mean="php_version", .*, and-more$/)
    expect(ignored.length).toBeLessThanOrEqual(1000)
    const long = (await ignoredOf({ name: 'n', ['é'.repeat(100_000)]: 1, ['b'.repeat(100_000)]: 1 })) as string
    expect(long).toBe(`%"${'%c3%a9'.repeat(61)}...";in=body, "${'b'.repeat(61)}...";in=body`)
    const nested = {
      name: 'n',
      plugins: Array.from({ length: 10_000 }, (_, index) => ({ path: '', [`x${index}`]: 1 })),
    }
    expect(((await ignoredOf(nested)) as string).length).toBeLessThanOrEqual(1000)
  })

  it('is a list of RFC 9651 that returns the original names, whatever they are', () => {
    const names = fc.dictionary(fc.string({ unit: 'binary', maxLength: 60 }), fc.constant(1), { maxKeys: 30 })
    fc.assert(
      fc.property(names, names, (inBody, inQuery) => {
        const value = ignoredFields({ method: 'POST' }, { body: inBody, query: inQuery })
        const sent = [...Object.keys(inQuery), ...Object.keys(inBody)]
        if (value === undefined) return sent.length === 0
        validateHeaderValue('stead-ignored', value)
        const members = parseList(value).map(([item]) => item)
        const isCut = members.at(-1) instanceof Token
        const said = (isCut ? members.slice(0, -1) : members).map((item) =>
          item instanceof DisplayString ? item.toString() : item,
        )
        // The parser reads U+FEFF at the beginning as a byte order mark.
        const asRead = (name: string) => name.toWellFormed().replace(/^\ufeff/, '')
        expect(said).toEqual(sent.slice(0, said.length).map(asRead))
        expect(isCut).toBe(said.length < sent.length)
        return value.length <= 1000
      }),
    )
  })
})
