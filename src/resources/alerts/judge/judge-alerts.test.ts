import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../../test/support/api.ts'
import { dialects } from '../../../../test/support/database.ts'
import { noteFault } from '../faults.store.ts'
import { raiseAlert } from '../raise-alert.ts'
import { endMoments, judgeFaults, judgeHosts, judgeSiteDisks } from './judge-alerts.job.ts'

const MB = 1 << 20

describe.each(dialects)('conditions on $dialect', ({ dialect, skip }) => {
  if (skip) return void test.skip('no server', () => {})
  let api: TestApi
  let owner: Person
  let site = 0
  const now = Date.now()
  beforeAll(async () => {
    api = await testApi(dialect)
    owner = await api.person('owner@example.com')
  })
  let named = 0
  beforeEach(async () => {
    await api.database.transaction((tx) => tx.deleteFrom('alerts').execute())
    named++
    site = await api.site(owner, `shop-${named}`)
  })
  afterAll(() => api?.close())

  /** Open and ended alerts. */
  const alerts = async () => {
    const rows = await api.database.read.selectFrom('alerts').selectAll().orderBy('id').execute()
    const told = (isOpen: boolean) =>
      rows
        .filter((row) => (row.ended_at === null) === isOpen)
        .map(({ site_id, kind, subject }) => [site_id, kind, subject].join(' ').trim())
    return { open: told(true), ended: told(false) }
  }

  test('a site over 80 and 95 % of what its plan allows has alerts, which end two percent below', async () => {
    const uses = (megabytes: number) =>
      api.database.transaction(async (tx) => {
        const bytes = { file_bytes: (megabytes - 10) * MB, database_bytes: 10 * MB }
        await tx.deleteFrom('site_statistics').where('site_id', '=', site).execute()
        await tx
          .insertInto('site_statistics')
          .values({ site_id: site, page_views: '{}', refreshed_at: 1, ...bytes })
          .execute()
        await judgeSiteDisks(tx, { siteDiskMb: 1000 }, now)
      })
    await uses(799)
    expect(await alerts()).toEqual({ open: [], ended: [] })
    await uses(801)
    expect((await alerts()).open).toEqual([`${site} site_disk_filling`])
    await uses(960)
    await uses(940)
    expect((await alerts()).open).toEqual([`${site} site_disk_filling`, `${site} site_disk_full`])
    await uses(929)
    expect(await alerts()).toEqual({ open: [`${site} site_disk_filling`], ended: [`${site} site_disk_full`] })
    await uses(781)
    expect((await alerts()).open).toEqual([`${site} site_disk_filling`])
    await uses(779)
    expect((await alerts()).open).toEqual([])
    const detail = await api.database.read.selectFrom('alerts').select('detail').orderBy('id').execute()
    expect(detail[0]?.detail).toBe('It uses 801 of 1,000 MB. Without space, it becomes read-only')
  })

  test('a smaller plan counts, and a site in the trash does not', async () => {
    const judge = () => api.database.transaction((tx) => judgeSiteDisks(tx, { siteDiskMb: 100_000 }, now))
    await api.database.transaction(async (tx) => {
      await tx.updateTable('accounts').set({ plan: 'Personal' }).where('id', '=', owner.accountId).execute()
      const bytes = { file_bytes: 4200 * MB, database_bytes: 0 }
      await tx
        .insertInto('site_statistics')
        .values({ site_id: site, page_views: '{}', refreshed_at: 1, ...bytes })
        .execute()
    })
    await judge()
    expect((await alerts()).open).toEqual([`${site} site_disk_filling`])
    await owner.call('DELETE', `/v1/sites/${site}`)
    await judge()
    expect((await alerts()).open).toEqual([])
  })

  test('a host that is silent for three minutes, or whose disk is full, has alerts for the operator', async () => {
    const judge = (values: { seen_at?: number; facts?: string; state?: 'lost' | 'active' }) =>
      api.database.transaction(async (tx) => {
        await tx.updateTable('hosts').set(values).execute()
        await judgeHosts(tx, Date.now())
      })
    const hosts = await api.database.read.selectFrom('hosts').select('name').orderBy('id').execute()
    const each = (kind: string) => hosts.map(({ name }) => `0 ${kind} ${name}`)
    expect(hosts.length).toBeGreaterThan(0)
    await judge({ seen_at: Date.now() - 100_000, facts: '{}' })
    expect((await alerts()).open).toEqual([])
    await judge({ seen_at: Date.now() - 200_000, facts: '{"diskUsedShare":0.96}' })
    expect((await alerts()).open.toSorted()).toEqual(
      [...each('host_disk_filling'), ...each('host_disk_full'), ...each('host_silent')].toSorted(),
    )
    await judge({ seen_at: Date.now(), facts: '{"diskUsedShare":0.81}' })
    expect((await alerts()).open).toEqual(each('host_disk_filling'))
    // The operator has decided about it.
    await judge({ seen_at: 1, state: 'lost' })
    expect((await alerts()).open).toEqual([])
    await judge({ seen_at: Date.now(), state: 'active', facts: '{}' })
    const events = api.database.read.selectFrom('events').select(['type', 'site_id']).where('type', 'like', '%host%')
    expect(await events.where('type', '=', 'host_silent').execute()).toMatchObject([{ site_id: null }])
    const over = api.database.read.selectFrom('events').select('type').where('type', '=', 'platform_alert_resolved')
    expect(await over.execute()).toHaveLength(3 * hosts.length)
  })

  test('faults that hosts note have alerts until there were none for half an hour', async () => {
    const MINUTE = 60_000
    const judge = (at: number) => api.database.transaction((tx) => judgeFaults(tx, at))
    const note = (kind: 'php_errors' | 'mail_bouncing', at: number) =>
      api.database.transaction((tx) => noteFault(tx, { kind, siteId: site, detail: 'The last error: a', now: at }))
    await note('php_errors', now)
    await note('mail_bouncing', now + 20 * MINUTE)
    await judge(now + MINUTE)
    expect((await alerts()).open).toEqual([`${site} php_errors`, `${site} mail_bouncing`])
    await judge(now + 31 * MINUTE)
    expect(await alerts()).toEqual({ open: [`${site} mail_bouncing`], ended: [`${site} php_errors`] })
    // A clock that is wrong by hours.
    await note('php_errors', now + 300 * MINUTE)
    await judge(now + 32 * MINUTE)
    expect((await alerts()).open).toEqual([`${site} mail_bouncing`])
    await judge(now + 51 * MINUTE)
    expect((await alerts()).open).toEqual([])
    expect(await api.database.read.selectFrom('site_faults').selectAll().execute()).toEqual([])
  })

  test('an update that was undone is over after a day', async () => {
    const day = 86_400_000
    await api.database.transaction(async (tx) => {
      const undone = { kind: 'update_undone', siteId: site, detail: 'It failed' } as const
      await raiseAlert(tx, { ...undone, subject: 'forms' }, now - day - 1)
      await raiseAlert(tx, { ...undone, subject: 'shop' }, now - day + 1000)
      await endMoments(tx, now)
    })
    expect(await alerts()).toEqual({ open: [`${site} update_undone shop`], ended: [`${site} update_undone forms`] })
  })
})
