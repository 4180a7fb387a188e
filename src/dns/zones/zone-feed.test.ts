/** Tests zones from the tables, on both databases. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { dialects, type TestDatabase, testDatabase } from '../../../test/support/database.ts'
import { createSealer } from '../../platform/crypto/seal.ts'
import { makeFirstAccount } from '../../resources/account/account.ts'
import { changeZone, nameservers, record } from '../test-support.ts'
import { dropChallenge, putChallenge, zoneHolding } from './challenges.store.ts'
import { ZoneFeed, type ZoneFeedOptions } from './zone-feed.ts'
import { newestChange, readChangedZones } from './zones.store.ts'

const sealer = createSealer(Buffer.alloc(32, 1))

describe.each(dialects)('on $dialect', ({ dialect, skip }) => {
  let made: TestDatabase
  const feeds: ZoneFeed[] = []
  beforeEach(async () => {
    if (skip) return
    made = await testDatabase(dialect)
    await made.database.transaction((tx) => makeFirstAccount(tx, { email: 'a@b.example', now: 1 }))
  })
  afterEach(async () => {
    for (const feed of feeds.splice(0)) await feed.close()
    if (!skip) await made.drop()
  })

  const feedOf = (more: Partial<ZoneFeedOptions> = {}) => {
    const { database } = made
    const feed = new ZoneFeed({
      nameservers,
      newest: () => newestChange(database.read),
      read: (seq, take) => readChangedZones(database, seq, take, sealer),
      onError() {},
      ...more,
    })
    feeds.push(feed)
    return feed
  }

  const change = (name: string, addresses: readonly string[], more?: { isDeleted: boolean }) =>
    changeZone(
      made.database,
      name,
      addresses.map((value) => record({ type: 'A', name: 'www', value })),
      more,
    )

  const addresses = (feed: ZoneFeed, name: string) =>
    feed.zones
      .get(name)
      ?.nodes.get(`www.${name}`)
      ?.get(1)
      ?.data.map(([part]) => [...(part as Buffer)].join('.'))

  it.skipIf(skip)('learns zones at the start, and later changes, automatically', async () => {
    await change('example.test', ['192.0.2.1'])
    const feed = feedOf({ pollMs: 50 })
    await feed.refresh()
    expect(addresses(feed, 'example.test')).toEqual(['192.0.2.1'])
    await change('example.test', ['192.0.2.2', '192.0.2.3'])
    await change('another.test', ['192.0.2.4'])
    await expect.poll(() => addresses(feed, 'example.test')).toEqual(['192.0.2.2', '192.0.2.3'])
    await expect.poll(() => addresses(feed, 'another.test')).toEqual(['192.0.2.4'])
    expect(feed.zones.get('example.test')?.serial).toBe(102)
    await change('example.test', [], { isDeleted: true })
    await expect.poll(() => feed.zones.get('example.test')).toBeUndefined()
  })

  it.skipIf(skip)(
    'reads more zones than fit into one batch, and a zone that was deleted and created again',
    async () => {
      await change('again.test', ['192.0.2.1'])
      await change('again.test', [], { isDeleted: true })
      await made.database.transaction(async (tx) => {
        const { seq: at } = await newestChange(tx)
        const row = { account_id: 1, created_at: 0, updated_at: 0, serial: 1, deleted_at: null }
        const many = Array.from({ length: 450 }, (_, index) => ({
          ...row,
          name: `many${index}.test`,
          change_seq: at + 1 + index,
        }))
        await tx.insertInto('zones').values(many).execute()
        await tx
          .updateTable('zone_clock')
          .set({ seq: at + 450 })
          .execute()
      })
      await change('again.test', ['192.0.2.2'])
      const feed = feedOf()
      await feed.refresh()
      expect(feed.zones.size).toBe(451)
      expect(addresses(feed, 'again.test')).toEqual(['192.0.2.2'])
      // The old zone may be touched again. Its data about the name is obsolete.
      await made.database.transaction(async (tx) => {
        const seq = (await newestChange(tx)).seq + 1
        await tx.updateTable('zones').set({ change_seq: seq }).where('deleted_at', 'is not', null).execute()
        await tx.updateTable('zone_clock').set({ seq }).execute()
      })
      await feed.refresh()
      expect(addresses(feed, 'again.test')).toEqual(['192.0.2.2'])
    },
  )

  it.skipIf(skip)('removes zones that are missing in a restored copy of the database', async () => {
    await change('kept.test', ['192.0.2.1'])
    const feed = feedOf({ pollMs: 3_600_000 })
    await change('later.test', ['192.0.2.2'])
    await feed.refresh()
    expect(feed.zones.size).toBe(2)
    await made.database.transaction(async (tx) => {
      const later = tx.selectFrom('zones').select('id').where('name', '=', 'later.test')
      await tx.deleteFrom('dns_records').where('zone_id', 'in', later).execute()
      await tx.deleteFrom('zones').where('name', '=', 'later.test').execute()
      await tx.updateTable('zone_clock').set({ seq: 1 }).execute()
    })
    await feed.refresh()
    expect([...feed.zones.values()].map(({ name }) => name)).toEqual(['kept.test'])
  })

  it.skipIf(skip)('keeps the known zones while the database is unavailable, and then continues', async () => {
    await change('example.test', ['192.0.2.1'])
    let isAway = false
    const errors: unknown[] = []
    const feed = feedOf({
      pollMs: 20,
      newest: () => (isAway ? Promise.reject(new Error('away')) : newestChange(made.database.read)),
      onError: (error) => errors.push(error),
    })
    await feed.refresh()
    isAway = true
    await change('example.test', ['192.0.2.2'])
    await expect.poll(() => errors.length).toBeGreaterThan(1)
    expect(addresses(feed, 'example.test')).toEqual(['192.0.2.1'])
    isAway = false
    await expect.poll(() => addresses(feed, 'example.test')).toEqual(['192.0.2.2'])
  })

  it.skipIf(skip)(
    'lists every zone once in the catalog, and changes it only when the list of zones changes',
    async () => {
      await change('example.test', ['192.0.2.1'])
      const told: string[] = []
      const feed = feedOf({
        catalog: 'catalog.invalid',
        pollMs: 3_600_000,
        onZone: ({ name, serial }) => told.push(`${name} ${serial}`),
      })
      await feed.refresh()
      const members = () => [...(feed.catalog?.nodes.values() ?? [])].flatMap((node) => node.get(12)?.data.flat() ?? [])
      expect(members()).toEqual(['example.test'])
      await change('example.test', ['192.0.2.2'])
      await feed.refresh()
      expect(feed.catalog?.serial).toBe(1)
      await change('another.test', [])
      await feed.refresh()
      expect(members()).toEqual(['example.test', 'another.test'])
      expect(told).toEqual([
        'example.test 101',
        'catalog.invalid 1',
        'example.test 102',
        'another.test 101',
        'catalog.invalid 3',
      ])
    },
  )

  it.skipIf(skip)(
    'serves the proof for an authority in the closest zone next to its records, until it is removed',
    async () => {
      await change('example.test', ['192.0.2.1'])
      await change('sites.example.test', ['192.0.2.1'])
      const feed = feedOf()
      const texts = async () => {
        await feed.refresh()
        const sets = feed.zones.get('sites.example.test')?.nodes.get('_acme-challenge.sites.example.test')
        return sets?.get(16)?.data.map(([part]) => (part as Buffer).subarray(1).toString())
      }
      const name = '_acme-challenge.sites.example.test'
      const { database } = made
      const zone = await zoneHolding(database.read, name)
      expect(zone?.name).toBe('sites.example.test')
      expect(await zoneHolding(database.read, 'example.org')).toBeUndefined()
      const put = (value: string) =>
        database.transaction((tx) =>
          putChallenge(
            tx,
            { hostName: '*.sites.example.test', zone: zone as { id: number; name: string }, name, value },
            Date.now(),
          ),
        )
      expect(await texts()).toBeUndefined()
      const before = feed.zones.get('sites.example.test')?.serial as number
      await put('first')
      expect(await texts()).toEqual(['first'])
      expect(feed.zones.get('sites.example.test')?.serial).toBeGreaterThan(before)
      await put('second')
      expect(await texts()).toEqual(['second'])
      await database.transaction((tx) => dropChallenge(tx, '*.sites.example.test', Date.now()))
      expect(await texts()).toBeUndefined()
      expect(await database.read.selectFrom('dns_challenges').selectAll().execute()).toEqual([])
    },
  )
})
