import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { dialects, type TestDatabase, testDatabase } from '../../../test/support/database.ts'
import { precompiled, precompiledChange } from './precompiled.ts'

const host = { address: '', datacenters: '', max_sites: 1, facts: '' }

for (const { dialect, skip } of dialects)
  describe.skipIf(skip)(`on ${dialect}`, () => {
    let made: TestDatabase
    beforeEach(async () => {
      made = await testDatabase(dialect)
    })
    afterEach(() => made.drop())

    // Fails if a new query builder no longer passes a date through unchanged. `Mark` says what to do then.
    test('put given values in every place of a statement, and change them from run to run', async () => {
      const { database } = made
      const insert = precompiledChange((tx, { name, seenAt }: { name: string; seenAt: number }) =>
        tx.insertInto('hosts').values({ ...host, name, seen_at: seenAt }),
      )
      const update = precompiledChange((tx, { name, seenAt }: { name: string; seenAt: number }) =>
        tx.updateTable('hosts').set({ seen_at: seenAt }).where('name', '=', name),
      )
      const find = precompiled((tx, { one, two, from }: { one: string; two: string; from: number }) =>
        tx
          .selectFrom('hosts')
          .select(['name', 'seen_at'])
          .where('name', 'in', [one, two])
          .where((eb) => eb.or([eb('seen_at', '>=', from), eb('seen_at', '=', from)]))
          .orderBy('name'),
      )
      await database.transaction(async (tx) => {
        for (const [name, seenAt] of [
          ['a', 1],
          ['b', 2],
          ['c', 3],
        ] as const)
          await insert(tx, { name, seenAt })
        for (const [name, seenAt] of [
          ['b', 20],
          ['c', 30],
        ] as const)
          await update(tx, { name, seenAt })
      })
      const read = (one: string, two: string, from: number) => find(database.read, { one, two, from })
      expect(await read('a', 'b', 1)).toEqual([
        { name: 'a', seen_at: 1 },
        { name: 'b', seen_at: 20 },
      ])
      expect(await read('b', 'c', 30)).toEqual([{ name: 'c', seen_at: 30 }])
    })

    test('refuse a value that the statement calculates with or leaves out', async () => {
      const { read } = made.database
      const reckoned = precompiled((tx, { from }: { from: number }) =>
        tx
          .selectFrom('hosts')
          .select('name')
          .where('seen_at', '=', from + 1),
      )
      const leftOut = precompiled((tx, { from }: { from: number }) =>
        from > 1
          ? tx.selectFrom('hosts').select('name').where('seen_at', '=', from)
          : tx.selectFrom('hosts').select('name'),
      )
      for (const query of [reckoned, leftOut]) await expect(query(read, { from: 5 })).rejects.toThrow('from')
    })
  })
