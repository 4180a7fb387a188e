import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { dialects, type TestDatabase, testDatabase } from '../../../../test/support/database.ts'
import { siteDraft } from '../../../../test/support/site-draft.ts'
import { reportHost } from '../../../hosting/host.store.ts'
import { databaseNow } from '../../../platform/operations/worker/lease.ts'
import { makeAccount } from '../../account/account.ts'
import { insertSite, markDeleted, unmarkDeleted } from '../site.store.ts'
import { creationFacts, hostsThatRun, openHosts } from './creation.store.ts'

const now = Date.UTC(2026, 0, 1)

describe.each(dialects)('free places of hosts on $dialect', ({ dialect, skip }) => {
  let made: TestDatabase
  beforeEach(async (context) => {
    if (skip) return context.skip()
    made = await testDatabase(dialect)
    await made.database.transaction((tx) => makeAccount(tx, { email: 'a@example.com', plan: 'High Traffic', now }))
  })
  afterEach(() => made?.drop())

  const addHost = (name: string, maxSites: number) =>
    made.database.transaction((tx) =>
      tx
        .insertInto('hosts')
        .values({ name, address: '', datacenters: '', max_sites: maxSites, facts: '{}', seen_at: Date.UTC(2100, 0) })
        .execute(),
    )
  const addSite = (name: string, hostId: number) =>
    made.database.transaction(async (tx) => (await insertSite(tx, siteDraft(name, { hostId }), now)).id)
  const report = (hostId: number) => made.database.transaction((tx) => reportHost(tx, { hostId, epoch: 0 }, {}))
  const room = async () => (await creationFacts(made.database.read, 1)).hosts.map(({ freeSites }) => freeSites)

  test('of one host: sites added since its last report count as well', async () => {
    await addHost('one', 3)
    expect(await room()).toEqual([3])
    await addSite('first', 1)
    expect(await room()).toEqual([2])
    await report(1)
    expect(await room()).toEqual([2])
    await addSite('second', 1)
    await addSite('third', 1)
    expect(await room()).toEqual([0])
    await report(1)
    expect(await room()).toEqual([0])
  })

  test('a deleted site frees its place at once, before and after a report, and takes it again when it is recovered', async () => {
    await addHost('one', 2)
    const counted = await addSite('counted', 1)
    await report(1)
    const uncounted = await addSite('uncounted', 1)
    expect(await room()).toEqual([0])
    await made.database.transaction((tx) => markDeleted(tx, uncounted, now))
    expect(await room()).toEqual([1])
    await made.database.transaction((tx) => markDeleted(tx, counted, now))
    // A single host that is not full is not counted further. The other place is found when it is needed.
    expect(await room()).toEqual([1])
    await made.database.transaction((tx) => unmarkDeleted(tx, counted, now))
    await made.database.transaction((tx) => unmarkDeleted(tx, uncounted, now))
    expect(await room()).toEqual([0])
    await report(1)
    expect(await room()).toEqual([0])
  })

  test('several hosts: each has its own count, whatever the others have reported', async () => {
    await addHost('one', 10)
    await addHost('two', 10)
    await addSite('first', 1)
    await addSite('second', 2)
    await report(1)
    await addSite('third', 1)
    await addSite('fourth', 2)
    expect(await room()).toEqual([8, 8])
    await addSite('fifth', 2)
    await report(2)
    expect(await room()).toEqual([8, 7])
  })

  test('without a host there are none', async () => {
    expect(await room()).toEqual([])
  })

  const change = (hostId: number, values: { state?: 'cordoned' | 'lost' | 'removed'; seen_at?: number }) =>
    made.database.transaction((tx) => tx.updateTable('hosts').set(values).where('id', '=', hostId).execute())
  const offered = async () => [
    (await creationFacts(made.database.read, 1)).hosts.map(({ id }) => id),
    (await openHosts(made.database.read)).map(({ id }) => id),
  ]

  test('only active hosts get new sites, whether there are one or several', async () => {
    for (const name of ['one', 'two', 'three', 'four']) await addHost(name, 3)
    await change(2, { state: 'cordoned' })
    await change(3, { state: 'lost' })
    await change(4, { state: 'removed' })
    expect(await offered()).toEqual([[1], [1]])
    await change(1, { state: 'cordoned' })
    expect(await offered()).toEqual([[], []])
  })

  test('a silent host gets none if hosts are separate machines, by the clock of the database', async () => {
    await addHost('silent', 3)
    await addHost('heard', 3)
    await report(2)
    const { rows } = await sql<{ now: number }>`select ${databaseNow(made.database.read)} as now`.execute(
      made.database.read,
    )
    const at = Number(rows[0]?.now)
    await change(1, { seen_at: at - 11_000 })
    // On SQLite everything is one machine, and the site waits for its host.
    const expected = dialect === 'postgres' ? [2] : [1, 2]
    expect(await offered()).toEqual([expected, expected])
  })

  test('of several hosts, offers those that run the PHP version, or all when none does', async () => {
    for (const name of ['one', 'two']) await addHost(name, 3)
    const facts = (eight3: string) => JSON.stringify({ containment: { runtimes: { '8.3': eight3, '8.4': 'refused' } } })
    const setFacts = (id: number, text: string) =>
      made.database.transaction((tx) => tx.updateTable('hosts').set({ facts: text }).where('id', '=', id).execute())
    await setFacts(1, facts('refused'))
    await setFacts(2, facts('wasm'))
    const { hosts } = await creationFacts(made.database.read, 1)
    const running = async (version?: string, database?: 'mariadb') =>
      (await hostsThatRun(made.database.read, hosts, version, database)).map(({ id }) => id)
    expect([await running('8.3'), await running('8.4'), await running()]).toEqual([[2], [1, 2], [1, 2]])
    expect(await running('8.3', 'mariadb')).toEqual([1, 2])
    await setFacts(1, facts('native'))
    expect(await running('8.3', 'mariadb')).toEqual([1])
  })
})
