import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../test/support/api.ts'
import { dialects } from '../../../test/support/database.ts'
import { loadRoute } from '../../edge/routing/routes.store.ts'
import { durations, durationsMs } from './defensive-mode-durations.ts'

test('offers exactly the durations of the API', () => {
  const hours = Array.from({ length: 22 }, (_, i) => `${i + 2}-hours`)
  const days = Array.from({ length: 6 }, (_, i) => `${i + 2}-days`)
  expect(durations).toEqual(['30-minutes', '45-minutes', '1-hour', ...hours, '1-day', ...days])
  expect(durationsMs.get('30-minutes')).toBe(1_800_000)
  expect(durationsMs.get('23-hours')).toBe(82_800_000)
  expect(durationsMs.get('7-days')).toBe(604_800_000)
})

for (const { dialect, skip } of dialects) {
  describe.skipIf(skip)(`defensive mode on ${dialect}`, () => {
    let api: TestApi
    let owner: Person
    let site: number

    beforeAll(async () => {
      api = await testApi(dialect)
      owner = await api.person('owner@example.com')
      site = await api.site(owner, 'defended')
      const values = { host_name: 'defended.test', site_id: site, changed_at: 1 }
      await api.database.transaction((tx) => tx.insertInto('routes').values(values).execute())
    })
    afterAll(() => api.close())

    const set = (body?: object) => owner.call('PUT', `/v1/sites/${site}/edge-cache/defensive-mode`, body)
    const until = async () => (await loadRoute(api.database.read, 'defended.test'))?.defensiveUntilMs
    const events = async () =>
      (
        await api.database.read
          .selectFrom('events')
          .select('data')
          .where('type', '=', 'edge_cache_defensive_mode_toggled')
          .orderBy('id')
          .execute()
      ).map(({ data }) => JSON.parse(data))

    test('200: is on for its duration, in the site, the edge cache status and the route; null or no duration ends it', async () => {
      const before = Date.now()
      const { status, body } = await set({ duration: '45-minutes' })
      expect([status, body.data.edgeCacheDefensiveMode]).toEqual([200, true])
      const seconds = body.data.edgeCacheDefensiveModeUntil
      expect(seconds).toBeGreaterThanOrEqual(Math.floor(before / 1000) + 2700)
      expect(Math.floor(((await until()) as number) / 1000)).toBe(seconds)
      const shown = await owner.call('GET', `/v1/sites/${site}/edge-cache`)
      expect(shown.body.data).toEqual({ active: true, defensive_mode: { active: true, active_until: seconds } })
      expect((await set({ duration: null })).body.data).toMatchObject({
        edgeCacheDefensiveMode: false,
        edgeCacheDefensiveModeUntil: null,
      })
      expect(await until()).toBe(0)
      await set({ duration: '7-days' })
      expect((await set()).body.data.edgeCacheDefensiveMode).toBe(false)
      expect((await set()).status).toBe(200)
      expect(await events()).toEqual([
        { enabled: true, duration: '45-minutes' },
        { enabled: false, duration: null },
        { enabled: true, duration: '7-days' },
        { enabled: false, duration: null },
      ])
    })

    test('400: unknown durations', async () => {
      for (const duration of ['1-hours', '24-hours', '8-days', '0-hours', '29-minutes', '1 hour', '', 3, '1-days'])
        expect([duration, (await set({ duration })).status]).toEqual([duration, 400])
    })

    test('400 edge_cache_off: ends for good with the edge cache', async () => {
      await set({ duration: '2-hours' })
      await owner.call('PUT', `/v1/sites/${site}/edge-cache`, { enabled: false })
      expect(await until()).toBe(0)
      expect((await set({ duration: '2-hours' })).status).toBe(400)
      await owner.call('PUT', `/v1/sites/${site}/edge-cache`, { enabled: true })
      expect((await owner.call('GET', `/v1/sites/${site}`)).body.data.edgeCacheDefensiveMode).toBe(false)
    })

    test('200: turning it off while the edge cache is off changes nothing', async () => {
      await owner.call('PUT', `/v1/sites/${site}/edge-cache`, { enabled: false })
      const before = await events()
      for (const body of [{}, { duration: null }]) {
        const { status, body: answer } = await set(body)
        expect([status, answer.data.edgeCacheDefensiveMode]).toEqual([200, false])
      }
      expect(await events()).toEqual(before)
      await owner.call('PUT', `/v1/sites/${site}/edge-cache`, { enabled: true })
    })

    test('ends automatically', async () => {
      await set({ duration: '30-minutes' })
      await api.database.transaction((tx) =>
        tx
          .updateTable('sites')
          .set({ defensive_until: Date.now() - 1 })
          .where('id', '=', site)
          .execute(),
      )
      expect((await owner.call('GET', `/v1/sites/${site}`)).body.data).toMatchObject({
        edgeCacheDefensiveMode: false,
        edgeCacheDefensiveModeUntil: null,
      })
      // It has ended, so turning it off is not a change to record.
      const before = await events()
      await set({ duration: null })
      expect(await events()).toEqual(before)
    })
  })
}
