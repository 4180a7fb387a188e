import { expect, test } from 'vitest'
import { dialects, testDatabase } from './database.ts'
import { recordRowChanges } from './row-changes.ts'

test.each(dialects)(
  'records rows that come, go or change, and no update that changes nothing on $dialect',
  async ({ dialect, skip }) => {
    if (skip) return
    const { database, drop } = await testDatabase(dialect)
    try {
      const recorded = await recordRowChanges(database)
      const before = await recorded.mark()
      const rows = database.transaction
      await rows((tx) => tx.insertInto('schedules').values({ name: 'one', last_slot: 1 }).execute())
      await rows((tx) => tx.updateTable('schedules').set({ last_slot: 1 }).where('name', '=', 'one').execute())
      expect((await recorded.since(before)).map(({ table, change }) => `${change} ${table}`)).toEqual([
        'insert schedules',
      ])
      const mark = await recorded.mark()
      await rows((tx) => tx.updateTable('schedules').set({ last_slot: 2 }).where('name', '=', 'one').execute())
      await rows((tx) => tx.deleteFrom('schedules').where('name', '=', 'one').execute())
      const changes = await recorded.since(mark)
      expect(changes.map(({ change }) => change)).toEqual(['update', 'delete'])
      if (dialect === 'sqlite') expect(new Set(changes.map(({ row }) => row)).size).toBe(1)
      await expect(
        rows(async (tx) => {
          await tx.deleteFrom('hosts').execute()
          throw new Error('refused')
        }),
      ).rejects.toThrow('refused')
      expect(await recorded.since(mark)).toEqual(changes)
    } finally {
      await drop()
    }
  },
)
