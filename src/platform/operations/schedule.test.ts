import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { dialects, type TestDatabase, testDatabase } from '../../../test/support/database.ts'
import { openDatabase } from '../db/database.ts'
import { noLog } from '../log/log.ts'
import { forgetNightly } from './forget.ts'
import { oneStep } from './harness.ts'
import { createScheduler, schedule, slotAt } from './schedule.ts'

const definition = oneStep(() => {})
const minutely = schedule({
  name: 'minutely',
  everyMs: 60_000,
  definition,
  input: (slot) => ({ label: String(slot) }),
  options: (slot) => ({ siteId: slot / 60_000 }),
})

test('places slots at multiples of the period, or daily at a time of day', () => {
  expect(slotAt(minutely, 119_999)).toBe(60_000)
  expect(slotAt(minutely, 120_000)).toBe(120_000)
  const at = Date.parse('2026-03-29T03:40:00Z')
  expect(slotAt(forgetNightly, at)).toBe(at)
  expect(slotAt(forgetNightly, at - 1)).toBe(at - 86_400_000)
  expect(() => schedule({ name: 'x', at: '24:00', definition, input: () => ({}) })).toThrow('HH:MM')
  expect(() => schedule({ name: 'x', definition, input: () => ({}) })).toThrow('everyMs or at')
})

for (const { dialect, skip } of dialects) {
  describe.skipIf(skip)(`schedules on ${dialect}`, () => {
    let made: TestDatabase
    beforeEach(async () => {
      made = await testDatabase(dialect)
    })
    afterEach(() => made.drop())
    const enqueued = async () => {
      const rows = await made.database.read
        .selectFrom('operations')
        .select(['input', 'site_id'])
        .orderBy('id')
        .execute()
      return rows.map(({ input, site_id }) => `${JSON.parse(input).label} ${site_id}`)
    }

    test('enqueues each due slot once among three competitors, and all missed ones together once', async () => {
      let now = 60_000
      const databases = await Promise.all([1, 2, 3].map(() => openDatabase(made.connection)))
      const schedulers = databases.map((database) =>
        createScheduler({ database, schedules: [minutely], log: noLog, clock: () => now }),
      )
      const tickAll = () => Promise.all([...schedulers, ...schedulers].map((scheduler) => scheduler.tick()))
      try {
        await tickAll()
        expect(await enqueued()).toEqual([])
        for (now of [119_000, 120_001, 120_002, 180_000, 179_000, 600_500]) await tickAll()
        expect(await enqueued()).toEqual(['120000 2', '180000 3', '600000 10'])
      } finally {
        await Promise.all(databases.map((database) => database.close()))
      }
    })

    test('continues a schedule whose slot was recorded by a clock that was years ahead', async () => {
      let now = Date.parse('2036-01-01')
      const lines: unknown[] = []
      const log = pino({ level: 'warn' }, { write: (line) => void lines.push(JSON.parse(line)) })
      const options = { database: made.database, schedules: [minutely], log, clock: () => now }
      await createScheduler(options).tick()
      now = 120_000
      await createScheduler(options).tick()
      expect(await enqueued()).toEqual(['120000 2'])
      expect(lines).toMatchObject([{ msg: 'reset a schedule that was far ahead of the clock', slot: 120_000 }])
      // In normal operation it logs nothing.
      now = 180_000
      await createScheduler(options).tick()
      expect(lines).toHaveLength(1)
    })

    test('keeps the slot of a schedule that cannot be enqueued, and runs the others', async () => {
      let now = 60_000
      let fails = true
      const flaky = schedule({
        name: 'flaky',
        everyMs: 60_000,
        definition,
        input() {
          if (fails) throw new Error('no')
          return { label: 'flaky' }
        },
      })
      const schedules = [flaky, minutely]
      const scheduler = createScheduler({ database: made.database, schedules, log: noLog, clock: () => now })
      await scheduler.tick()
      now = 120_000
      await scheduler.tick()
      fails = false
      await scheduler.tick()
      expect(await enqueued()).toEqual(['120000 2', 'flaky null'])
    })

    test('ticks automatically from start to stop', async () => {
      const often = schedule({ name: 'often', everyMs: 20, definition, input: () => ({}) })
      const scheduler = createScheduler({ database: made.database, schedules: [often], log: noLog })
      scheduler.start()
      while ((await enqueued()).length < 3) await new Promise(setImmediate)
      await scheduler.stop()
    })
  })
}
