/** Tests that the stored changes of a zone bring every older version to the newest one, or that there are none. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { dialects, type TestDatabase, testDatabase } from '../../../test/support/database.ts'
import { seeded } from '../../../test/support/seeded.ts'
import type { OwnedSet } from '../../dns/owned-set.ts'
import { nameservers } from '../../dns/test-support.ts'
import { wholeZone } from '../../dns/transfers/transfer.ts'
import { dropChallenge, putChallenge } from '../../dns/zones/challenges.store.ts'
import { differenceTo } from '../../dns/zones/difference.ts'
import { MOST_CHANGE_BYTES, MOST_CHANGES } from '../../dns/zones/earlier-sets.store.ts'
import type { ServedZone } from '../../dns/zones/zone.ts'
import { touchZone } from '../../dns/zones/zone-changes.store.ts'
import { ZoneFeed } from '../../dns/zones/zone-feed.ts'
import { forgetServed, newestChange, readChangedZones, readEarlier, renewZones } from '../../dns/zones/zones.store.ts'
import { createSealer } from '../../platform/crypto/seal.ts'
import type { Tx } from '../../platform/db/database.ts'
import { makeFirstAccount } from '../account/account.ts'
import { setDnssec } from '../dnssec/key.store.ts'
import type { RecordDraft } from './records/record.ts'
import { changeValue, deleteRecords, dropIfEmpty, insertRecords, insertZone, recordsOfZone } from './zone.store.ts'

const sealer = createSealer(Buffer.alloc(32, 1))
const name = 'example.test'
const NOW = 1_700_000_000_000

const draft = (type: RecordDraft['type'], owner: string, value: string, ttl = 300): RecordDraft => ({
  ...{ type, name: owner, value, ttl, siteId: null },
  ...{ priority: type === 'MX' ? 10 : null, weight: null, port: null },
})

/** Returns a line for each record, without an order, which is what a secondary has. */
const said = (sets: Iterable<OwnedSet>): Set<string> =>
  new Set(
    [...sets].flatMap(({ owner, set }) =>
      set.data.map((data) => `${owner} ${set.ttl} ${set.type} ${data.map((part) => part.toString('hex')).join(' ')}`),
    ),
  )

describe.each(dialects)('changes of a zone on $dialect', ({ dialect, skip }) => {
  if (skip) return void test.skip('no server', () => {})
  let made: TestDatabase
  let zoneId: number
  let feed: ZoneFeed
  const inOne = <Result>(work: (tx: Tx) => Promise<Result>) => made.database.transaction(work)
  beforeEach(async () => {
    made = await testDatabase(dialect)
    await inOne((tx) => makeFirstAccount(tx, { email: 'a@b.example', now: 1 }))
    zoneId = (await inOne((tx) => insertZone(tx, 1, name, NOW))).id
    feed = feedOf()
  })
  afterEach(async () => {
    await feed.close()
    await made.drop()
  })

  const feedOf = () =>
    new ZoneFeed({
      ...{ nameservers, pollMs: 3_600_000, catalog: 'catalog.invalid' },
      newest: () => newestChange(made.database.read),
      read: (seq, take) => readChangedZones(made.database, seq, take, sealer),
      renew: () => inOne((tx) => renewZones(tx, { madeWith: 'tests', now: NOW + 60_000, isDue: true })),
      onError: (error) => {
        throw error
      },
    })
  const served = async (): Promise<ServedZone> => {
    await feed.refresh()
    return feed.zones.get(name) as ServedZone
  }
  test('a recreated zone continues above its last serial, and a new one starts at the current time', async () => {
    const serialOf = async (id: number) =>
      (await made.database.read.selectFrom('zones').select('serial').where('id', '=', id).executeTakeFirst())?.serial
    await inOne((tx) => tx.updateTable('zones').set({ serial: 4_000_000_000 }).where('id', '=', zoneId).execute())
    await inOne((tx) => dropIfEmpty(tx, zoneId, NOW))
    const again = await inOne((tx) => insertZone(tx, 1, name, NOW))
    expect(await serialOf(again.id)).toBeGreaterThan(4_000_000_000)
    const other = await inOne((tx) => insertZone(tx, 1, 'another.test', NOW))
    expect(await serialOf(other.id)).toBeLessThan(1_700_000_100)
  })

  const earlierThan = async (serial: number, zone: ServedZone) =>
    readEarlier(made.database.read, name, serial, zone.serial)
  /** Applies changes as a secondary does: records to remove must exist, and records to add must not. */
  async function brought(
    records: ReadonlySet<string>,
    serial: number,
    zone: ServedZone,
  ): Promise<Set<string> | undefined> {
    const earlier = await earlierThan(serial, zone)
    if (!earlier) return undefined
    const { removed, added } = differenceTo(zone, serial, earlier, { nameservers })
    const result = new Set(records)
    for (const line of said(removed)) expect(result.delete(line), `${line} was there`).toBe(true)
    for (const line of said(added)) {
      expect(result.has(line), `${line} was not there`).toBe(false)
      result.add(line)
    }
    return result
  }
  const add = (...drafts: RecordDraft[]) => inOne((tx) => insertRecords(tx, zoneId, drafts, NOW))
  const kept = async () =>
    made.database.read
      .selectFrom('zone_changes')
      .select(['from_serial as from', 'to_serial as to', 'bytes'])
      .orderBy('from_serial')
      .execute()

  test('brings every version to the newest one, whatever changes', { timeout: 60_000 }, async () => {
    const chance = seeded(20_261_124)
    const below = (most: number) => Math.floor(chance.next() * most)
    const versions: { serial: number; records: Set<string> }[] = []
    const pick = <Item>(items: readonly Item[]) => items[below(items.length)] as Item
    for (let round = 0; round < 60; round++) {
      await inOne(async (tx) => {
        const there = await recordsOfZone(tx, zoneId)
        const way = there.length === 0 ? 0 : below(5)
        const owner = pick(['', 'www', 'a', 'b.c'])
        const more = Array.from({ length: 1 + below(3) }, () =>
          pick([
            draft('A', owner, `192.0.2.${below(4)}`, pick([60, 300])),
            draft('TXT', owner, `t${below(3)}`),
            draft('NS', owner, `ns${below(3)}.own.test`),
            draft('MX', owner, `mx${below(3)}.own.test`),
          ]),
        )
        if (way === 0) await insertRecords(tx, zoneId, more, NOW + round)
        const some = there.filter(() => below(2) === 0).map(({ id }) => id)
        if (way === 1) await deleteRecords(tx, zoneId, some, NOW + round)
        const text = there.find(({ type }) => type === 'TXT')
        const challenge = {
          hostName: 'a.test',
          zone: { id: zoneId, name },
          name: `www.${name}`,
          value: `proof ${round}`,
        }
        if (way === 3) await putChallenge(tx, challenge, NOW + round)
        if (way === 4) await dropChallenge(tx, 'a.test', NOW + round)
        if (way === 2 && text) await changeValue(tx, text, `changed ${round}`, NOW + round)
      })
      const zone = await served()
      if (zone.serial !== versions.at(-1)?.serial)
        versions.push({ serial: zone.serial, records: said(wholeZone(zone)) })
    }
    expect(versions.length).toBeGreaterThan(40)
    const zone = await served()
    const now = said(wholeZone(zone))
    for (const { serial, records } of versions.slice(0, -1)) expect(await brought(records, serial, zone)).toEqual(now)
  })

  test('has none for a version that is unknown, from the future, or the newest itself', async () => {
    await add(draft('A', 'www', '192.0.2.1'))
    await add(draft('A', 'www', '192.0.2.2'))
    const zone = await served()
    expect(await earlierThan(zone.serial - 1, zone)).toEqual([
      { name: 'www', type: 'A', records: [expect.objectContaining({ value: '192.0.2.1' })] },
    ])
    for (const serial of [zone.serial, zone.serial + 1, zone.serial - 1000, 0])
      expect(await earlierThan(serial, zone)).toBeUndefined()
    // A server that has not read the newest change yet.
    expect(await earlierThan(zone.serial - 2, { ...zone, serial: zone.serial - 1 })).toHaveLength(1)
  })

  test('drops the oldest changes above the limits, and all of them for a change larger than the limits', async () => {
    for (let at = 0; at < MOST_CHANGES + 5; at++) await add(draft('A', `h${at}`, '192.0.2.1'))
    const many = await kept()
    expect(many).toHaveLength(MOST_CHANGES)
    const zone = await served()
    expect(many.at(-1)?.to).toBe(zone.serial)
    expect(await earlierThan(many[0]?.from as number, zone)).toHaveLength(MOST_CHANGES)
    expect(await earlierThan((many[0]?.from as number) - 1, zone)).toBeUndefined()

    const long = 'x'.repeat(3000)
    for (let at = 0; at < 15; at++) await add(draft('TXT', 'long', `${at} ${long}`))
    const bytes = (await kept()).map((each) => each.bytes)
    expect(bytes.length).toBeGreaterThan(0)
    expect(bytes.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(MOST_CHANGE_BYTES)
    for (let at = 15; at < 25; at++) await add(draft('TXT', 'long', `${at} ${long}`))
    expect(await kept()).toEqual([])
  })

  test('does not store changes that are rolled back, and stores both of two at once', async () => {
    await add(draft('A', 'www', '192.0.2.1'))
    const before = await served()
    const dies = inOne(async (tx) => {
      await insertRecords(tx, zoneId, [draft('A', 'www', '192.0.2.2')], NOW)
      throw new Error('dies')
    })
    await expect(dies).rejects.toThrow('dies')
    await Promise.all([1, 2, 3, 4].map((at) => add(draft('A', `at-once-${at}`, '192.0.2.1'))))
    const zone = await served()
    expect(zone.serial).toBe(before.serial + 4)
    expect(await brought(said(wholeZone(before)), before.serial, zone)).toEqual(said(wholeZone(zone)))
  })

  test('stores none for a zone that is signed or was', async () => {
    await add(draft('A', 'www', '192.0.2.1'))
    const unsigned = await served()
    await inOne(async (tx) => {
      await setDnssec(tx, zoneId, 'on', null)
      await touchZone(tx, zoneId, NOW)
    })
    await add(draft('A', 'www', '192.0.2.2'))
    expect(await kept()).toEqual([])
    await inOne(async (tx) => {
      await setDnssec(tx, zoneId, 'off', null)
      await touchZone(tx, zoneId, NOW)
    })
    await add(draft('A', 'www', '192.0.2.3'))
    expect(await kept()).toHaveLength(1)
    expect(await earlierThan(unsigned.serial, await served())).toBeUndefined()
  })

  test('deletes the changes of a deleted zone, and gives it a higher serial when it is recreated', async () => {
    for (let at = 0; at < 5; at++) await add(draft('A', `h${at}`, '192.0.2.1'))
    const { serial } = await served()
    await inOne(async (tx) => {
      await deleteRecords(
        tx,
        zoneId,
        (await recordsOfZone(tx, zoneId)).map(({ id }) => id),
        NOW,
      )
      await dropIfEmpty(tx, zoneId, NOW)
    })
    expect(await kept()).toEqual([])
    expect(await served()).toBeUndefined()
    zoneId = (await inOne((tx) => insertZone(tx, 1, name, NOW))).id
    const again = await served()
    expect(again.serial).toBeGreaterThan(serial + 1)
    expect(await earlierThan(serial, again)).toBeUndefined()
  })

  describe('renewing zones', () => {
    const renew = (madeWith: string, now = NOW) => inOne((tx) => renewZones(tx, { madeWith, now }))

    test('after a change of settings raises serials, stores no changes, and makes all servers reload everything', async () => {
      await renew('one')
      await add(draft('A', 'www', '192.0.2.1'))
      const before = await served()
      await renew('one')
      expect(await kept()).toHaveLength(1)
      await renew('two')
      expect(await kept()).toEqual([])
      const after = await served()
      expect(after).not.toBe(before)
      expect(after.serial).toBe(before.serial + 1)
      await add(draft('A', 'www', '192.0.2.2'))
      expect((await served()).serial).toBe(before.serial + 2)
    })

    test('after a restore raises all serials above those served before', async () => {
      await renew('one')
      await add(draft('A', 'www', '192.0.2.1'))
      await inOne(forgetServed)
      await renew('one', NOW + 3_600_000)
      expect((await served()).serial).toBe((NOW + 3_600_000) / 1000)
    })

    test('after an older copy replaced the database under a running server removes missing zones, and raises the others and the catalog', async () => {
      await renew('one')
      const before = await served()
      await inOne((tx) => tx.updateTable('zone_clock').set({ seq: 1000 }).execute())
      await inOne((tx) => insertZone(tx, 1, 'later.test', NOW))
      await served()
      expect(feed.zones.size).toBe(2)
      const catalog = feed.catalog?.serial as number
      await inOne(async (tx) => {
        await tx.deleteFrom('zones').where('name', '=', 'later.test').execute()
        await tx.updateTable('zone_clock').set({ seq: 1 }).execute()
      })
      const after = await served()
      expect([...feed.zones.values()].map((zone) => zone.name)).toEqual([name])
      expect(after.serial).toBeGreaterThan(before.serial)
      expect(feed.catalog?.serial).toBeGreaterThan(catalog)
    })
  })
})
