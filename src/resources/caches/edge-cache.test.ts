import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../test/support/api.ts'
import { dialects } from '../../../test/support/database.ts'
import { purgesSince } from '../../edge/cache/purge/purges.store.ts'
import { loadRoute } from '../../edge/routing/routes.store.ts'
import { purgeCaches } from '../sites/switches/purge.store.ts'

for (const { dialect, skip } of dialects) {
  describe.skipIf(skip)(`caches on ${dialect}`, () => {
    let api: TestApi
    let owner: Person
    let site: number

    beforeAll(async () => {
      api = await testApi(dialect)
      owner = await api.person('owner@example.com')
      site = await api.site(owner, 'cached-site')
      const values = { host_name: 'cached-site.test', site_id: site, changed_at: 1 }
      await api.database.transaction((tx) => tx.insertInto('routes').values(values).execute())
    })
    afterAll(() => api.close())

    const route = async () => loadRoute(api.database.read, 'cached-site.test')
    const newest = async () => (await purgesSince(api.database.read, undefined)).newest
    const path = (rest: string) => `/v1/sites/${site}/${rest}`
    const events = async () =>
      (await api.database.read.selectFrom('events').select('type').where('type', 'like', '%edge_cache').execute()).map(
        ({ type }) => type,
      )

    test('200: is on for a new site; a toggle inverts, `enabled` sets, and each change has one log entry and one event', async () => {
      const status = await owner.call('GET', path('edge-cache'))
      expect(status.body.data).toEqual({ active: true, defensive_mode: { active: false, active_until: null } })
      expect((await owner.call('GET', `/v1/sites/${site}`)).body.data.edgeCache).toBe('enabled')
      expect((await owner.call('PUT', path('edge-cache'))).body.data).toBeNull()
      expect((await route())?.hasEdgeCache).toBe(false)
      await owner.call('PUT', path('edge-cache'), { enabled: false })
      await owner.call('PUT', path('edge-cache'), { enabled: '1' })
      expect((await owner.call('GET', `/v1/sites/${site}`)).body.data.edgeCache).toBe('enabled')
      expect(await events()).toEqual(['disabled_edge_cache', 'enabled_edge_cache'])
    })

    test('200: a purge raises only the epoch of pages, and gets the next number', async () => {
      const before = await route()
      const seq = await newest()
      expect((await owner.call('DELETE', path('edge-cache'))).body.data).toBeNull()
      const after = await route()
      expect(after).toMatchObject({ cacheEpoch: (before?.cacheEpoch ?? 0) + 1, cdnEpoch: before?.cdnEpoch })
      expect(await purgesSince(api.database.read, seq)).toEqual({
        newest: seq + 1,
        purges: [{ seq: seq + 1, siteId: site, pageEpoch: after?.cacheEpoch, fileEpoch: null, paths: [] }],
      })
      expect((await events()).at(-1)).toBe('purged_edge_cache')
    })

    test('200: turns the CDN on and off and purges it separately', async () => {
      expect((await owner.call('GET', path('cdn'))).body.data).toEqual({ cdnEnabled: true })
      expect((await owner.call('DELETE', path('cdn'))).body.data).toEqual({ cdnEnabled: false })
      expect((await owner.call('POST', path('cdn'))).body.data).toEqual({ cdnEnabled: true })
      expect((await owner.call('PUT', path('cdn'))).body.data).toEqual({ cdnEnabled: false })
      expect((await owner.call('PUT', path('cdn'), { enabled: true })).body.data).toEqual({ cdnEnabled: true })
      const before = await route()
      expect((await owner.call('DELETE', path('cache'))).body.data).toBeNull()
      expect(await route()).toMatchObject({ cacheEpoch: before?.cacheEpoch, cdnEpoch: (before?.cdnEpoch ?? 0) + 1 })
    })

    test('path purges raise no epoch; concurrent purges get consecutive numbers', async () => {
      const before = await route()
      const seq = await newest()
      const orders = Array.from({ length: 20 }, (_, i) => ({ pages: [`/p${i}/`] }))
      const numbers = await Promise.all(
        orders.map((order) => api.database.transaction((tx) => purgeCaches(tx, site, order))),
      )
      expect(numbers.sort((a, b) => a - b)).toEqual(orders.map((_, i) => seq + 1 + i))
      const { purges } = await purgesSince(api.database.read, seq)
      expect(purges.map((purge) => purge.paths.length)).toEqual(orders.map(() => 1))
      expect(await route()).toEqual(before)
      expect(await api.database.transaction((tx) => purgeCaches(tx, 999_999, { pages: 'all' }))).toBe(0)
    })

    test('a purge of all pages has the paths of files beside it', async () => {
      const seq = await newest()
      const order = { pages: 'all', files: ['/wp-content/a.png'] } as const
      await api.database.transaction((tx) => purgeCaches(tx, site, order))
      await api.database.transaction((tx) => purgeCaches(tx, site, { pages: ['/a/'], files: order.files }))
      const { purges } = await purgesSince(api.database.read, seq)
      expect(purges.map(({ paths }) => paths)).toEqual([['/wp-content/a.png'], ['/a/', '/wp-content/a.png']])
      expect(purges.map(({ fileEpoch }) => fileEpoch)).toEqual([null, null])
      expect(purges[0]?.pageEpoch).toBe((await route())?.cacheEpoch)
    })

    test('403 without the role to change; everyone on the site may read', async () => {
      const guest = await api.person('guest@example.com')
      await api.collaborate(guest, site, ['manage_notes'])
      for (const [method, rest] of [
        ['PUT', 'edge-cache'],
        ['DELETE', 'edge-cache'],
        ['DELETE', 'cache'],
        ['PUT', 'cdn'],
        ['POST', 'cdn'],
        ['DELETE', 'cdn'],
        ['DELETE', 'object-cache'],
      ] as const)
        expect([rest, (await guest.call(method, path(rest))).status]).toEqual([rest, 403])
      expect((await guest.call('GET', path('edge-cache'))).status).toBe(200)
      expect((await guest.call('GET', path('cdn'))).status).toBe(200)
    })
  })
}
