import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../../test/support/api.ts'
import { dialects } from '../../../../test/support/database.ts'
import { hostedSite } from '../../../hosting/host.store.ts'
import { ended, startWorker } from '../../../platform/operations/harness.ts'
import type { HostServices } from '../../kit/host-services.ts'
import { switchSafeMode } from './switch-safe-mode.job.ts'

describe.each(dialects.filter(({ skip }) => !skip))('safe mode, on $dialect', ({ dialect }) => {
  let api: TestApi
  let owner: Person
  let site: number
  let hostId: number
  beforeAll(async () => {
    api = await testApi(dialect)
    owner = await api.person('owner@example.com')
    site = await api.site(owner, 'locked-site')
    hostId = (await api.database.read.selectFrom('hosts').select('id').executeTakeFirstOrThrow()).id
  })
  afterAll(() => api.close())

  const isOn = async () => (await owner.call('GET', `/v1/sites/${site}/status`)).body.data.safeMode
  const purges = () => api.database.read.selectFrom('cache_purges').select('page_epoch').execute()
  const entries = async () => {
    const rows = api.database.read.selectFrom('activity').select('action').where('action', 'like', 'wordpress.safe%')
    return (await rows.orderBy('id').execute()).map(({ action }) => action)
  }

  /**
   * Returns a host that learns of the switch the second time that it looks.
   * @param stopped receives the number of the look after which PHP was stopped
   */
  const lateHost = (stopped: number[]) => {
    let looks = 0
    return {
      database: api.database,
      hostedSite: async () => ({ siteId: site, isInSafeMode: ++looks > 1 ? await isOn() : !(await isOn()) }),
      pool: { stop: async () => stopped.push(looks) },
    } as unknown as HostServices
  }

  test('200 once a host that knows of the switch has stopped PHP and pages are purged, and repeating it does nothing', async () => {
    expect(await isOn()).toBe(false)
    const stopped: number[] = []
    const worker = startWorker(api.database, [switchSafeMode], { runner: 'host', hostId, services: lateHost(stopped) })
    try {
      const on = await owner.call('PUT', `/v1/sites/${site}/cms/safe-mode`, { enabled: true })
      expect([on.status, on.body.data]).toEqual([200, { enabled: true }])
      expect((await ended(api.database, Number(on.headers['operation-id']))).state).toBe('succeeded')
      expect([await isOn(), stopped, (await purges()).length]).toEqual([true, [2], 1])
      const again = await owner.call('PUT', `/v1/sites/${site}/cms/safe-mode`, { enabled: true })
      expect([again.status, again.headers['operation-id']]).toEqual([200, undefined])
      const off = await owner.call('PUT', `/v1/sites/${site}/cms/safe-mode`, { enabled: false })
      expect([off.body.data, await isOn(), (await purges()).length]).toEqual([{ enabled: false }, false, 2])
      expect(await entries()).toEqual(['wordpress.safe_mode.enabled', 'wordpress.safe_mode.disabled'])
    } finally {
      await worker.stop(1000)
    }
  })

  test('400 without a target state, because a toggle that is sent twice would lock the owner out again', async () => {
    expect((await owner.call('PUT', `/v1/sites/${site}/cms/safe-mode`)).status).toBe(400)
    expect(await isOn()).toBe(false)
  })

  test('the host gets the switch with the site', async () => {
    const change = (safe_mode: 0 | 1) =>
      api.database.transaction(async (tx) => {
        await tx.updateTable('sites').set({ safe_mode, written_address: 'a.test' }).where('id', '=', site).execute()
      })
    await api.home(site)
    for (const value of [1, 0] as const) {
      await change(value)
      expect((await hostedSite(api.database.read, hostId, site))?.safe_mode).toBe(value)
    }
  })
})
