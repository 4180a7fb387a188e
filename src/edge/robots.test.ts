import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type TestApi, testApi } from '../../test/support/api.ts'
import { page, startCachedSite } from './cache/test-support.ts'
import { loadRoute } from './routing/routes.store.ts'
import { createCleanup, rawConnect } from './test-support.ts'

const cleanup = createCleanup()
afterEach(() => cleanup.run())

const TAG = 'noindex, nofollow'
const started = (headers = {}) =>
  startCachedSite(cleanup, (_request, response) => page(response, 'page', headers), { route: { isUnlisted: true } })
type Started = Awaited<ReturnType<typeof started>>

describe('a site that is not in production', () => {
  const ways: Record<string, { ask(site: Started): ReturnType<Started['get']>; status?: number; body?: string }> = {
    'from the host': { ask: (site) => site.get('/', {}, 'POST') },
    'from the host, stored on the way': { ask: (site) => site.get() },
    'for HEAD': { ask: (site) => site.get('/', {}, 'HEAD'), body: '' },
    'from the cache': { ask: (site) => site.get().then(() => site.get()) },
    'that its copy is current': {
      ask: (site) => site.get().then(() => site.get('/', { 'if-none-match': '*' })),
      ...{ status: 304, body: '' },
    },
    'a part': { ask: (site) => site.get().then(() => site.get('/', { range: 'bytes=0-1' })), status: 206, body: 'pa' },
    'no part': { ask: (site) => site.get().then(() => site.get('/', { range: 'bytes=9-' })), status: 416, body: '' },
    'of the edge itself': {
      ask(site) {
        site.route = { ...site.route, isClosed: true }
        return site.get()
      },
      ...{ status: 503, body: expect.any(String) },
    },
  }
  test.each(Object.entries(ways))(
    'asks search engines not to index an answer: %s',
    async (_way, { ask, ...expected }) => {
      const { status, body, headers } = await ask(await started())
      expect({ status, body, tag: headers['x-robots-tag'] }).toEqual({
        status: 200,
        body: 'page',
        tag: TAG,
        ...expected,
      })
    },
  )

  test('does so in an answer whose head is written as one text, on a connection that stays open', async () => {
    const site = await started()
    await site.get()
    const connection = await rawConnect(site.port, cleanup)
    const ask = 'GET / HTTP/1.1\r\nHost: site.test\r\n\r\n'
    connection.socket.write(ask + ask)
    const text = await connection.until((seen) => seen.split('page').length === 3)
    expect(text.match(new RegExp(`\r\nX-Robots-Tag: ${TAG}\r\n`, 'g'))).toHaveLength(2)
  })

  test("keeps the site's own header, and stores nothing: the same page in production may be indexed", async () => {
    const site = await started({ 'x-robots-tag': 'noarchive' })
    expect((await site.get()).headers['x-robots-tag']).toBe(`noarchive, ${TAG}`)
    site.route = { ...site.route, isUnlisted: false }
    const { headers } = await site.get()
    expect([headers.age, headers['x-robots-tag']]).toEqual(['0', 'noarchive'])
  })
})

describe('the route', () => {
  let api: TestApi
  beforeEach(async () => {
    api = await testApi('sqlite')
  })
  afterEach(() => api.close())

  test('has the environment type, and is updated when it changes', async () => {
    const owner = await api.person('owner@example.com')
    const site = await api.site(owner, 'found')
    const values = { host_name: 'found.test', site_id: site, changed_at: 1 }
    await api.database.transaction((tx) => tx.insertInto('routes').values(values).execute())
    const changes = () => api.database.read.selectFrom('route_changes').select('seq').execute()
    const isUnlisted = async () => (await loadRoute(api.database.read, 'found.test'))?.isUnlisted
    expect(await isUnlisted()).toBe(false)
    for (const type of ['staging', 'development', 'local', 'production']) {
      const before = (await changes()).length
      expect((await owner.call('PUT', `/v1/sites/${site}`, { wp_environment_type: type })).status).toBe(200)
      expect(await isUnlisted()).toBe(type !== 'production')
      expect((await changes()).length).toBeGreaterThan(before)
    }
  })
})
