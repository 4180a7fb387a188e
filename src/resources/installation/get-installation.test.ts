import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../test/support/api.ts'
import { dialects } from '../../../test/support/database.ts'
import type { MetricReport } from '../../platform/metrics/part-metrics.ts'
import { healthOf } from './health.ts'

describe.each(dialects)('the state of this Stead ($dialect)', ({ dialect, skip }) => {
  if (skip) return void test.skip('no server', () => {})
  let api: TestApi
  let operator: Person
  let other: Person
  beforeAll(async () => {
    api = await testApi(dialect)
    operator = await api.person('first@example.com')
    other = await api.person('second@example.com')
  })
  afterAll(() => api?.close())

  const read = async (who: Person, by: 'call' | 'browse' = 'call') => {
    const { status, body } = await who[by]('GET', '/v1/installation')
    expect(status).toBe(200)
    return body.data
  }

  test('is shown to the first account, and to no other, whatever roles it has', async () => {
    const site = await api.site(operator, 'of-the-first')
    await api.collaborate(other, site, ['execute_bulk_operations', 'manage_performance'])
    for (const by of ['call', 'browse'] as const) {
      expect(await read(other, by)).toEqual({ operator: false, health: null, backups_elsewhere: null })
      expect(await read(operator, by)).toMatchObject({
        operator: true,
        health: { hosts: [{ id: expect.any(Number) }] },
      })
    }
    const isOperator = async (who: Person) => (await who.browse('GET', '/v1/session')).body.data.operator
    expect([await isOperator(operator), await isOperator(other)]).toEqual([true, false])
  })

  test('accounts with their sites: shows all to the operator, and to others only their own', async () => {
    const list = async (who: Person, query = '') => {
      const { status, body, headers } = await who.call('GET', `/v1/installation/accounts${query}`)
      expect(status).toBe(200)
      return { data: body.data, page: body.page, next: headers['next-after'] }
    }
    const counted = async (who: Person) =>
      (await list(operator)).data.find(({ id }: { id: number }) => id === who.accountId)
    const before = await counted(other)
    const trashed = await api.site(other, 'counted')
    await api.site(other, 'counted-too')
    expect(await counted(other)).toEqual({ ...before, sites: before.sites + 2 })
    const trash = api.database.transaction((tx) =>
      tx.updateTable('sites').set({ deleted_at: 1 }).where('id', '=', trashed).execute(),
    )
    await trash
    expect(await counted(other)).toEqual({ ...before, sites: before.sites + 1 })
    expect(await list(other)).toMatchObject({
      data: [{ id: other.accountId, email: other.email, operator: false }],
      page: { totalItems: 1 },
    })
    expect(await list(other, `?after=${other.accountId}`)).toMatchObject({ data: [] })
    const first = await list(operator, '?after=0&per_page=1')
    expect(first).toMatchObject({ data: [{ id: operator.accountId, operator: true }], next: `${operator.accountId}` })
    expect((await list(operator)).page.totalItems).toBeGreaterThan(1)
  })

  test('counts the sites of hosts, without those in the trash', async () => {
    const setSeen = (at: number) =>
      api.database.transaction((tx) => tx.updateTable('hosts').set({ seen_at: at }).execute())
    await setSeen(0)
    const [before] = (await read(operator)).health.hosts
    const site = await api.site(other, 'one-more')
    expect((await read(operator)).health.hosts).toEqual([{ ...before, sites: before.sites + 1 }])
    await api.database.transaction((tx) =>
      tx.updateTable('sites').set({ deleted_at: 1 }).where('id', '=', site).execute(),
    )
    expect((await read(operator)).health.hosts).toEqual([before])
    expect(before).toMatchObject({ name: 'h', seen_at: null, answers: false, max_sites: 1e6 })
    const now = Date.now()
    await setSeen(now)
    expect((await read(operator)).health.hosts).toMatchObject([{ seen_at: new Date(now).toISOString(), answers: true }])
  })
})

test('the values are those of /metrics, separately for each process', () => {
  const report = (name: string, ...values: [Record<string, string>, number][]) =>
    ({ name: `stead_${name}`, values: values.map(([labels, value]) => ({ labels, value })) }) as unknown as MetricReport
  const [one, two] = [
    { part: 'control', process: 'control-1' },
    { part: 'edge', process: 'edge-2' },
  ]
  const reports = [
    report('info', [{ version: '0.1.0' }, 1]),
    report('operations', [{ state: 'queued' }, 7], [{ state: 'failed' }, 2]),
    report('operations_due', [{ runner: 'control' }, 1], [{ runner: 'host' }, 5]),
    report('operations_oldest_due_seconds', [{ runner: 'control' }, 0.4], [{ runner: 'host' }, 61.2]),
    report('webhooks', [{ state: 'well' }, 9], [{ state: 'failing' }, 3], [{ state: 'disabled' }, 1]),
    report('certificate_first_end_timestamp_seconds', [{}, 0]),
    report('records_backup_timestamp_seconds', [{}, 1_700_000_000]),
    report('process_resident_bytes', [one, 100]),
    report('process_resident_bytes', [two, 200]),
    report('disk_free_bytes', [one, 1000], [two, 2000]),
    report('budget_limit', [{ ...one, budget: 'bodies' }, 50], [{ ...two, budget: 'bodies' }, 60]),
    report('budget_used', [{ ...one, budget: 'bodies' }, 5], [{ ...two, budget: 'bodies' }, 6]),
    report('budget_refusals_total', [{ ...two, budget: 'bodies' }, 4]),
  ]
  expect(healthOf(reports, [], 0)).toMatchObject({
    version: '0.1.0',
    operations: [
      { state: 'queued', count: 7 },
      { state: 'failed', count: 2 },
    ],
    queues: [
      { runner: 'control', due: 1, oldest_seconds: 0 },
      { runner: 'host', due: 5, oldest_seconds: 61 },
    ],
    webhooks: { failing: 3, disabled: 1 },
    certificates: { first_end: null },
    records_backed_up: '2023-11-14T22:13:20.000Z',
    processes: [
      {
        process: 'control-1',
        resident_bytes: 100,
        disk_free_bytes: 1000,
        budgets: [{ name: 'bodies', used: 5, limit: 50, refusals: 0 }],
      },
      {
        process: 'edge-2',
        resident_bytes: 200,
        disk_free_bytes: 2000,
        budgets: [{ name: 'bodies', used: 6, limit: 60, refusals: 4 }],
      },
    ],
  })
})
