import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dialects, type TestDatabase, testDatabase } from '../../test/support/database.ts'
import { identifyInstallation } from '../hosting/identity/identity.store.ts'
import type { Database } from '../platform/db/database.ts'
import { setBackedUp } from '../resources/installation/installation.store.ts'
import { createInstallationMetrics } from './installation-metrics.ts'

const HOUR_MS = 3_600_000

describe.each(dialects)('metrics of the installation on $dialect', ({ dialect, skip }) => {
  let made: TestDatabase
  beforeAll(async () => {
    if (!skip) made = await testDatabase(dialect)
  })
  afterAll(() => made?.drop())

  const addOperation = (values: {
    type: string
    state: string
    runner?: string
    runAt?: number
    finishedAt?: number
  }) =>
    made.database.transaction((tx) =>
      tx
        .insertInto('operations')
        .values({
          type: values.type,
          runner: (values.runner ?? 'control') as 'control',
          state: values.state as 'queued',
          input: '{}',
          cancel_requested: 0,
          attempts: 0,
          run_at: values.runAt ?? 0,
          progress: 0,
          created_at: 0,
          finished_at: values.finishedAt ?? null,
        })
        .execute(),
    )
  const shown = (database: Database) =>
    createInstallationMetrics({
      database,
      version: '1.2.3',
      schedules: [{ name: 'things.forget', everyMs: HOUR_MS, offsetMs: 0, enqueue: async () => {} }],
    })

  it.skipIf(skip)('reports empty states as 0, and ignores operations that ended long ago', async () => {
    const now = Date.now()
    await addOperation({ type: 'mail.send', state: 'queued', runAt: now - 100_000 })
    await addOperation({ type: 'site.provision', state: 'queued', runner: 'host', runAt: now + HOUR_MS })
    await addOperation({ type: 'site.provision', state: 'running', runner: 'host' })
    await addOperation({ type: 'mail.send', state: 'failed', finishedAt: now - 1000 })
    await addOperation({ type: 'site.provision', state: 'succeeded', finishedAt: now - 1000 })
    await addOperation({ type: 'site.provision', state: 'failed', finishedAt: now - 2 * HOUR_MS })
    await made.database.transaction((tx) =>
      tx
        .insertInto('schedules')
        .values({ name: 'things.forget', last_slot: 5 * HOUR_MS })
        .execute(),
    )
    expect(await shown(made.database).metrics()).toContain('stead_records_backup_timestamp_seconds 0\n')
    await made.database.transaction(async (tx) => {
      for (const [name, at, more] of [
        ['ended.test', 1, {}],
        ['good.test', now + HOUR_MS, {}],
        ['failing.test', null, { reason: 'It is away', reason_at: 1 }],
        // Issued by the edge.
        ['local.localhost', 1, { due_at: Number.MAX_SAFE_INTEGER }],
      ] as const)
        await tx
          .insertInto('certificates')
          .values({
            ...{ host_name: name, site_id: 1, wanted_at: 0, due_at: 0, expires_at: at, force_tls: 0, failures: 0 },
            ...more,
          })
          .execute()
      await identifyInstallation(tx, 'inst', 1)
      await setBackedUp(tx, 7000)
    })
    const text = await shown(made.database).metrics()
    for (const line of [
      'stead_info{version="1.2.3"} 1',
      'stead_sites{state="live"} 0',
      'stead_operations{state="queued"} 2',
      'stead_operations{state="running"} 1',
      'stead_operations{state="succeeded"} 1',
      'stead_operations{state="failed"} 1',
      'stead_operations{state="canceled"} 0',
      'stead_mails{state="queued"} 1',
      'stead_mails{state="succeeded"} 0',
      'stead_mails{state="failed"} 1',
      'stead_operations_due{runner="control"} 1',
      'stead_operations_due{runner="host"} 0',
      'stead_operations_oldest_due_seconds{runner="host"} 0',
      'stead_schedule_last_slot_timestamp_seconds{schedule="things.forget"} 18000',
      'stead_records_backup_timestamp_seconds 7',
      'stead_schedule_interval_seconds{schedule="things.forget"} 3600',
      'stead_webhooks{state="well"} 0',
      'stead_certificates_ended 1',
      'stead_certificates_failing 1',
      'stead_webhook_deliveries_due 0',
      'stead_webhook_oldest_due_seconds 0',
    ])
      expect(`${text}\n`).toContain(`${line}\n`)
    const first = Number(/^stead_certificate_first_end_timestamp_seconds (\S+)/m.exec(text)?.[1])
    expect(first).toBe((now + HOUR_MS) / 1000)
    const waited = Number(/oldest_due_seconds\{runner="control"\} (\S+)/.exec(text)?.[1])
    expect(waited).toBeGreaterThanOrEqual(100)
    expect(waited).toBeLessThan(1000)
  })

  it.skipIf(skip)('shows the state, sites and silence of each host that was not removed', async () => {
    const now = Date.now()
    await made.database.transaction(async (tx) => {
      const host = { address: '', datacenters: '', facts: '{}', max_sites: 70 }
      for (const [name, state, seenAt] of [
        ['h-well', 'active', now - 5000],
        ['h-stopped', 'cordoned', 0],
        ['h-lost', 'lost', now - 90_000],
        ['h-gone', 'removed', 0],
      ] as const)
        await tx
          .insertInto('hosts')
          .values({ ...host, name, state, seen_at: seenAt })
          .execute()
    })
    const text = await shown(made.database).metrics()
    for (const line of [
      'stead_host_state{host="h-well",state="active"} 1',
      'stead_host_state{host="h-well",state="cordoned"} 0',
      'stead_host_state{host="h-lost",state="lost"} 1',
      'stead_host_seen_seconds{host="h-stopped"} +Inf',
      'stead_host_sites{host="h-well"} 0',
      'stead_host_max_sites{host="h-well"} 70',
    ])
      expect(`${text}\n`).toContain(`${line}\n`)
    expect(text).not.toMatch(/h-gone|host_seen_seconds\{host="h-lost"/)
    const seen = Number(/host_seen_seconds\{host="h-well"\} (\S+)/.exec(text)?.[1])
    expect(seen).toBeGreaterThanOrEqual(5)
    expect(seen).toBeLessThan(1000)
  })

  it.skipIf(skip)('shares one query among simultaneous callers, and retries after a failure', async () => {
    const { database } = made
    let isBroken = true
    let asked = 0
    const counting = new Proxy(database, {
      get(target, key) {
        if (key !== 'read') return Reflect.get(target, key)
        asked++
        if (isBroken) throw new Error('no database')
        return target.read
      },
    })
    const registry = shown(counting)
    await expect(registry.metrics()).rejects.toThrow('no database')
    isBroken = false
    asked = 0
    await registry.metrics()
    const once = asked
    expect(once).toBeGreaterThan(0)
    await Promise.all([registry.metrics(), registry.metrics()])
    expect(asked).toBe(once)
  })
})
