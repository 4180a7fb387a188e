import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../test/support/api.ts'
import { dialects } from '../../../test/support/database.ts'
import { loadRoute } from '../../edge/routing/routes.store.ts'
import { noLog } from '../../platform/log/log.ts'
import { createWorker } from '../../platform/operations/worker/worker.ts'
import { switchMaintenance } from './switch-maintenance.job.ts'

for (const { dialect, skip } of dialects) {
  describe.skipIf(skip)(`switches of a site on ${dialect}`, () => {
    let api: TestApi
    let owner: Person
    let site: number

    beforeAll(async () => {
      api = await testApi(dialect)
      owner = await api.person('owner@example.com')
      site = await api.site(owner, 'switched-site')
      const values = { host_name: 'switched-site.test', site_id: site, changed_at: 1 }
      await api.database.transaction((tx) => tx.insertInto('routes').values(values).execute())
    })
    afterAll(() => api.close())

    const path = (rest: string, id = site) => `/v1/sites/${id}/${rest}`
    const eventsOf = async (type: string) =>
      (
        await api.database.read.selectFrom('events').select('data').where('type', '=', type).orderBy('id').execute()
      ).map(({ data }) => JSON.parse(data))
    const actionsOf = async (prefix: string) =>
      (
        await api.database.read
          .selectFrom('activity')
          .select('action')
          .where('action', 'like', `${prefix}%`)
          .orderBy('id')
          .execute()
      ).map(({ action }) => action)
    const operations = () =>
      api.database.read.selectFrom('operations').select(['type', 'input']).where('site_id', '=', site).execute()

    test('200: lightweight 404 toggles, sets, and is recorded when it changes', async () => {
      expect((await owner.call('PUT', path('light_weight_404'))).body.data).toEqual({ lightWeight404Enabled: true })
      expect((await owner.call('GET', `/v1/sites/${site}`)).body.data.lightWeight404).toBe(true)
      const set = await owner.call('PUT', path('light_weight_404'), { enabled: true })
      expect(set.body.data).toEqual({ lightWeight404Enabled: true })
      expect((await owner.call('PUT', path('light_weight_404'))).body.data).toEqual({ lightWeight404Enabled: false })
      expect(await actionsOf('wordpress.lightweight_404')).toEqual([
        'wordpress.lightweight_404.enabled',
        'wordpress.lightweight_404.disabled',
      ])
      expect(await eventsOf('light_weight_404_changed')).toEqual([{ enabled: true }, { enabled: false }])
    })

    test('200: each change of multisite support starts the operation that writes it', async () => {
      const on = await owner.call('PUT', path('multisite-support'))
      expect([on.status, on.body.data.multisiteSupport]).toEqual([200, true])
      expect(on.headers['operation-id']).toBeDefined()
      const again = await owner.call('PUT', path('multisite-support'), { enabled: true })
      expect([again.body.data.multisiteSupport, again.headers['operation-id']]).toEqual([true, undefined])
      expect((await owner.call('PUT', path('multisite-support'))).body.data.multisiteSupport).toBe(false)
      expect((await operations()).map(({ type }) => type)).toEqual(['site.configure', 'site.configure'])
    })

    test("400 plan_lacks_multisite: the owner's plan counts, and nothing is stored; turning it off is always possible", async () => {
      const small = await api.person('small@example.com', { plan: 'Business' })
      const id = await api.site(small, 'small-site')
      await api.collaborate(owner, id, ['manage_performance'])
      for (const person of [small, owner]) {
        const refused = await person.call('PUT', path('multisite-support', id))
        expect(refused.status).toBe(400)
        expect(refused.body.errors[0]).toContain('Business')
      }
      expect((await small.call('GET', `/v1/sites/${id}`)).body.data.multisiteSupport).toBe(false)
      expect((await small.call('PUT', path('multisite-support', id), { enabled: false })).status).toBe(200)
    })

    test('200: an operation applies maintenance mode; two toggles in a row are two changes', async () => {
      // Operations of a site run in order. Those of the other site wait for a host.
      const site = await api.site(owner, 'maintained-site')
      const values = { host_name: 'maintained-site.test', site_id: site, changed_at: 1 }
      await api.database.transaction((tx) => tx.insertInto('routes').values(values).execute())
      for (let i = 0; i < 3; i++) {
        const { status, body, headers } = await owner.call('PUT', path('maintenance-mode', site))
        expect([status, body.data, headers['operation-id'] !== undefined]).toEqual([200, null, true])
      }
      expect((await loadRoute(api.database.read, 'maintained-site.test'))?.isInMaintenance).toBe(false)
      await owner.call('PUT', path('maintenance-mode', site), { enabled: true })
      const definitions = [switchMaintenance]
      const worker = createWorker({
        database: api.database,
        definitions,
        runner: 'control',
        services: undefined as never,
        log: noLog,
      })
      worker.start()
      await expect
        .poll(() => eventsOf('site_maintenance_mode_toggled'))
        .toEqual([{ enabled: true }, { enabled: false }, { enabled: true }])
      await worker.stop(1000)
      expect((await loadRoute(api.database.read, 'maintained-site.test'))?.isInMaintenance).toBe(true)
    })

    test('403 without the role', async () => {
      const guest = await api.person('guest@example.com')
      await api.collaborate(guest, site, ['manage_notes'])
      for (const rest of ['light_weight_404', 'multisite-support', 'maintenance-mode'])
        expect([rest, (await guest.call('PUT', path(rest))).status]).toEqual([rest, 403])
    })
  })
}
