import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../test/support/api.ts'
import { dialects } from '../../../test/support/database.ts'
import { noLog } from '../../platform/log/log.ts'
import { enqueue } from '../../platform/operations/enqueue.ts'
import { until } from '../../platform/operations/harness.ts'
import { createWorker, type Worker } from '../../platform/operations/worker/worker.ts'
import { checkDomain, checkDomains } from './check-domains.job.ts'
import { EDGE_KEY, type Outside, startOutside } from './outside.fixture.ts'

const MINUTE_MS = 60_000

describe.each(dialects)('domain checks on $dialect', ({ dialect, skip }) => {
  let api: TestApi
  let owner: Person
  let worker: Worker
  let site: number
  let now: number
  let outside: Outside
  beforeEach(async (context) => {
    if (skip) return context.skip()
    now = Date.now()
    outside = await startOutside()
    const settings = { ...outside.settings, STEAD_EDGE_ADDRESSES: '192.0.2.1' }
    api = await testApi(dialect, { now: () => now, settings })
    owner = await api.person('owner@example.com')
    site = await api.site(owner, 'looked-at')
    worker = createWorker({
      database: api.database,
      definitions: [checkDomain, checkDomains],
      runner: 'control',
      services: { database: api.database, config: api.config, sealer: api.sealer, edgeKey: EDGE_KEY },
      log: noLog,
      clock: () => now,
    })
    worker.start()
  })
  afterEach(async () => {
    await worker?.stop(1000)
    await api?.close()
    await outside?.close()
  })

  const done = async () => {
    const open = api.database.read
      .selectFrom('operations')
      .select('id')
      .where('type', 'like', 'domain%')
      .where('finished_at', 'is', null)
    await until(async () => (await open.execute()).length === 0)
  }
  const lookAtDue = async () => {
    await api.database.transaction((tx) => enqueue(tx, checkDomains, {}, { siteId: null }))
    await done()
  }
  const add = async (name: string) => {
    const { status, body } = await owner.call('POST', `/v1/sites/${site}/domains`, { name })
    expect(status).toBe(201)
    await done()
    return body.data.at(-1).id as number
  }
  /** Names that were checked, in that order. */
  const looked = () => outside.asked.map((each) => each.replace('TRACE ', ''))
  const lead = (name: string, address: string) => {
    outside.zone[name] = [address]
    outside.edge[name] = 405
  }
  const shown = async (id: number) => {
    const { data } = (await owner.call('GET', `/v1/sites/${site}/domains/${id}`)).body
    return [data.dnsConfirmed, data.provisioned, data.healthy]
  }
  const log = async () =>
    (
      await api.database.read
        .selectFrom('activity')
        .select(['action', 'message'])
        .where('action', 'in', ['domain.healthy', 'domain.unhealthy'])
        .orderBy('id')
        .execute()
    ).map(({ action, message }) => `${action}: ${message}`)

  test('run at once when a domain is added or on request, then about every ten minutes', async () => {
    lead('www.a.test', '203.0.113.9')
    const id = await add('www.a.test')
    expect(looked()).toEqual(['www.a.test'])
    expect(await shown(id)).toEqual([false, true, false])
    lead('www.a.test', '192.0.2.1')
    await owner.call('POST', `/v1/sites/${site}/domains/${id}/check`)
    await done()
    expect(await shown(id)).toEqual([true, true, true])
    // The regular checks.
    now += 2 * MINUTE_MS
    await lookAtDue()
    expect(looked()).toHaveLength(3)
    now += 8 * MINUTE_MS
    await lookAtDue()
    expect(looked()).toHaveLength(3)
    now += 4 * MINUTE_MS
    await lookAtDue()
    expect(looked()).toHaveLength(4)
  })

  test('log what changes, and what a new domain lacks, with the reason, but not what stays the same', async () => {
    lead('www.a.test', '203.0.113.9')
    const id = await add('www.a.test')
    const again = async (address: string) => {
      lead('www.a.test', address)
      await owner.call('POST', `/v1/sites/${site}/domains/${id}/check`)
      await done()
    }
    await again('203.0.113.9')
    await again('192.0.2.1')
    await again('192.0.2.1')
    await again('203.0.113.9')
    const elsewhere =
      'www.a.test points to 203.0.113.9 in the DNS, but must only point to 192.0.2.1, ' +
      'or to a proxy that forwards requests for http://www.a.test to Stead; its current target does not'
    expect(await log()).toEqual([
      `domain.unhealthy: www.a.test does not point to the site yet: ${elsewhere}`,
      'domain.healthy: www.a.test now points to the site',
      `domain.unhealthy: www.a.test no longer points to the site: ${elsewhere}`,
    ])
    lead('whole.a.test', '192.0.2.1')
    await add('whole.a.test')
    expect(await log()).toHaveLength(3)
  })

  test('open an alert after two checks in a row that a domain leads elsewhere, if it has led here before', async () => {
    const alerts = async () => {
      const rows = api.database.read.selectFrom('alerts').selectAll().orderBy('id')
      return (await rows.execute()).map(({ kind, subject, ended_at: ended }) => [kind, subject, ended === null])
    }
    lead('www.a.test', '203.0.113.9')
    const id = await add('www.a.test')
    const again = async (address: string) => {
      lead('www.a.test', address)
      await owner.call('POST', `/v1/sites/${site}/domains/${id}/check`)
      await done()
    }
    for (let time = 0; time < 3; time++) await again('203.0.113.9')
    await again('192.0.2.1')
    await again('203.0.113.9')
    await again('192.0.2.1')
    await again('203.0.113.9')
    expect(await alerts()).toEqual([])
    await again('203.0.113.9')
    expect(await alerts()).toEqual([['domain_elsewhere', 'www.a.test', true]])
    await again('192.0.2.1')
    expect(await alerts()).toEqual([['domain_elsewhere', 'www.a.test', false]])
    await again('203.0.113.9')
    await again('203.0.113.9')
    expect((await alerts()).at(-1)).toEqual(['domain_elsewhere', 'www.a.test', true])
    await owner.call('DELETE', `/v1/sites/${site}/domains/${id}`)
    expect((await alerts()).at(-1)).toEqual(['domain_elsewhere', 'www.a.test', false])
  })

  test('compare each of a site’s domains with its own earlier state', async () => {
    lead('one.a.test', '192.0.2.1')
    lead('two.a.test', '203.0.113.9')
    const [one, two] = [await add('one.a.test'), await add('two.a.test')]
    expect((await log()).length).toBe(1)
    lead('two.a.test', '192.0.2.1')
    await owner.call('POST', `/v1/sites/${site}/domains/${two}/check`)
    await done()
    expect((await log()).at(-1)).toBe('domain.healthy: two.a.test now points to the site')
    lead('one.a.test', '203.0.113.9')
    await owner.call('POST', `/v1/sites/${site}/domains/${one}/check`)
    await done()
    expect((await log()).at(-1)).toContain('domain.unhealthy: one.a.test no longer points to the site')
  })

  test('find a domain that got its name another way, and forget one that is gone', async () => {
    const id = await add('www.a.test')
    const { zoneId } = (await owner.call('GET', `/v1/sites/${site}/domains`)).body.data[0]
    await owner.call('POST', `/v1/zones/${zoneId}/records`, { type: 'A', name: 'other', site_id: site })
    await lookAtDue()
    expect(looked()).toEqual(['www.a.test', 'other.a.test'])
    const records = (await owner.call('GET', `/v1/zones/${zoneId}/records`)).body.data.records
    for (const record of records.filter(({ name }: { name: string }) => name === 'other'))
      await owner.call('DELETE', `/v1/zones/${zoneId}/records/${record.id}`)
    now += 30 * MINUTE_MS
    await lookAtDue()
    expect(looked()).toEqual(['www.a.test', 'other.a.test', 'www.a.test'])
    const checks = await api.database.read.selectFrom('domain_checks').select('host_name').execute()
    expect(checks).toEqual([{ host_name: 'www.a.test' }])
    expect(id).toBeGreaterThan(0)
  })

  test('continue when more are due than fit into one round', async () => {
    const names = Array.from({ length: 45 }, (_, at) => `h${at}.a.test`)
    for (const name of names) await owner.call('POST', `/v1/sites/${site}/domains`, { name })
    await done()
    outside.asked.length = 0
    now += 30 * MINUTE_MS
    await lookAtDue()
    expect(looked().sort()).toEqual([...names].sort())
  })
})
