import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { dialects, type TestDatabase, testDatabase } from '../../../../test/support/database.ts'
import { siteDraft } from '../../../../test/support/site-draft.ts'
import { reportHost } from '../../../hosting/host.store.ts'
import { makeAccount } from '../../account/account.ts'
import { insertSite, markDeleted, unmarkDeleted } from '../site.store.ts'
import { creationGround } from './creation.store.ts'

const now = Date.UTC(2026, 0, 1)

describe.each(dialects)('the room of hosts on $dialect', ({ dialect, skip }) => {
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
        .values({ name, address: '', datacenters: '', max_sites: maxSites, facts: '{}', seen_at: now })
        .execute(),
    )
  const addSite = (name: string, hostId: number) =>
    made.database.transaction(async (tx) => (await insertSite(tx, siteDraft(name, { hostId }), now)).id)
  const report = (hostId: number) => made.database.transaction((tx) => reportHost(tx, { hostId, epoch: 0 }, {}))
  const room = async () => (await creationGround(made.database.read, 1)).hosts.map(({ freeSites }) => freeSites)

  test('of one host: what it has since its last report counts as well', async () => {
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

  test('a deleted site leaves room at once, before a report and after it; one that comes back takes it again', async () => {
    await addHost('one', 2)
    const counted = await addSite('counted', 1)
    await report(1)
    const uncounted = await addSite('uncounted', 1)
    expect(await room()).toEqual([0])
    await made.database.transaction((tx) => markDeleted(tx, uncounted, now))
    expect(await room()).toEqual([1])
    await made.database.transaction((tx) => markDeleted(tx, counted, now))
    // one host that is not full is asked no further: the other place is found when it is needed
    expect(await room()).toEqual([1])
    await made.database.transaction((tx) => unmarkDeleted(tx, counted, now))
    await made.database.transaction((tx) => unmarkDeleted(tx, uncounted, now))
    expect(await room()).toEqual([0])
    await report(1)
    expect(await room()).toEqual([0])
  })

  test('of several hosts: each has its own, whatever the others have reported', async () => {
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

  test('without a host there is none', async () => {
    expect(await room()).toEqual([])
  })
})
