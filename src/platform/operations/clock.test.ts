/** Sets the clock forward and back while operations run and wait. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { dialects, type TestDatabase, testDatabase } from '../../../test/support/database.ts'
import { noLog } from '../log/log.ts'
import { enqueue } from './enqueue.ts'
import { ended, gate, oneStep, startWorker, until } from './harness.ts'
import { findOperation } from './read.ts'
import { createScheduler, schedule } from './schedule.ts'
import { watchLeases } from './worker/orphans.ts'
import type { Worker } from './worker/worker.ts'

const HOUR_MS = 3_600_000
const quick = { firstMs: 20, factor: 1, mostMs: 20 }

describe('treats a lease as that of a dead worker', () => {
  let now = 0
  const lease = (leaseUntil: number, isOver: boolean, attempts = 1) => ({ id: 7, attempts, leaseUntil, isOver })
  const watch = () => {
    now = 0
    return watchLeases(8000, () => now)
  }

  test('when it has expired and was not renewed for half its length: not at first sight, as the clock may have been set forward', () => {
    const leases = watch()
    expect(leases.orphansAmong([lease(5, true)])).toEqual([])
    now = 3999
    expect(leases.orphansAmong([lease(5, true)])).toEqual([])
    now = 4000
    expect(leases.orphansAmong([lease(5, true)])).toEqual([lease(5, true)])
  })

  test('when it reaches far into the future and was not renewed for longer than its length: the clock was set back', () => {
    const leases = watch()
    leases.orphansAmong([lease(HOUR_MS, false)])
    now = 9999
    expect(leases.orphansAmong([lease(HOUR_MS, false)])).toEqual([])
    now = 10_000
    expect(leases.orphansAmong([lease(HOUR_MS, false)])).toEqual([lease(HOUR_MS, false)])
  })

  test('never while it is renewed or taken over, or if it was missing in between', () => {
    const leases = watch()
    for (let beat = 0; beat < 20; beat++) {
      now += 3000
      expect(leases.orphansAmong([lease(beat, true)])).toEqual([])
    }
    now += 3000
    expect(leases.orphansAmong([lease(19, true, 2)])).toEqual([])
    expect(leases.orphansAmong([])).toEqual([])
    now += 60_000
    expect(leases.orphansAmong([lease(19, true, 2)])).toEqual([])
  })
})

for (const { dialect, skip } of dialects) {
  describe.skipIf(skip)(`records from before the clock was set back an hour, on ${dialect}`, () => {
    let made: TestDatabase
    const workers: Worker[] = []
    const start = (...args: Parameters<typeof startWorker> extends [unknown, ...infer Rest] ? Rest : never) => {
      const worker = startWorker(made.database, ...args)
      workers.push(worker)
      return worker
    }
    beforeEach(async () => {
      made = await testDatabase(dialect)
    })
    afterEach(async () => {
      vi.useRealTimers()
      await Promise.all(workers.splice(0).map((worker) => worker.stop(0)))
      await made.drop()
    })
    const ask = (definition: ReturnType<typeof oneStep>, runAt?: number) =>
      made.database.transaction((tx) => enqueue(tx, definition, {}, runAt === undefined ? {} : { runAt }))
    /** Moves all recorded times ahead, as if the clock had been set back. */
    const lieAhead = (ms = HOUR_MS) =>
      made.database.transaction((tx) =>
        tx
          .updateTable('operations')
          .set(({ eb }) => ({
            run_at: eb('run_at', '+', ms),
            waits_since: eb('waits_since', '+', ms),
            lease_until: eb('lease_until', '+', ms),
          }))
          .execute(),
      )

    test('takes over the operation of a dead worker, even if its lease has another hour left', async () => {
      const definition = oneStep(() => {})
      const id = await ask(definition)
      await made.database.transaction(async (tx) => {
        const dead = { state: 'running' as const, started_at: 1, lease_owner: 'dead', attempts: 1 }
        await tx
          .updateTable('operations')
          .set({ ...dead, lease_until: Date.now() })
          .execute()
        await tx.updateTable('operation_steps').set({ state: 'running', attempts: 1, started_at: 1 }).execute()
      })
      await lieAhead()
      start([definition], { leaseMs: 800 })
      expect(await ended(made.database, id)).toMatchObject({ state: 'succeeded', attempts: 2 })
    })

    test.each([
      ['back', HOUR_MS],
      ['forward', -HOUR_MS],
    ])('keeps an operation with its live worker when the clock is set %s', async (_, ms) => {
      const [begun, go] = [gate(), gate()]
      const definition = oneStep(() => {
        begun.open()
        return go.opened
      })
      start([definition])
      const id = await ask(definition)
      await begun.opened
      const lease = async () =>
        (
          await made.database.read
            .selectFrom('operations')
            .select(['lease_until', 'lease_owner'])
            .executeTakeFirstOrThrow()
        ).lease_until as number
      start([definition])
      await lieAhead(ms)
      const shifted = await lease()
      await until(async () => (await lease()) !== shifted)
      go.open()
      expect(await ended(made.database, id)).toMatchObject({ state: 'succeeded', attempts: 1 })
    })

    test('runs operations that are due at once or wait for their next attempt; one with a set time keeps it', async () => {
      const definition = oneStep(({ attempt }) => attempt, { backoff: quick })
      const now = await ask(definition)
      const again = await ask(definition)
      await made.database.transaction((tx) =>
        tx.updateTable('operations').set({ started_at: 1, attempts: 1 }).where('id', '=', again).execute(),
      )
      const later = await ask(definition, Date.now() + 5 * HOUR_MS)
      const runAt = async () =>
        (await made.database.read.selectFrom('operations').select('run_at').where('id', '=', later).execute())[0]
          ?.run_at
      const asked = await runAt()
      await made.database.transaction((tx) =>
        tx
          .updateTable('operations')
          .set(({ eb }) => ({ run_at: eb('run_at', '+', HOUR_MS), waits_since: eb('waits_since', '+', HOUR_MS) }))
          .where('id', 'in', [now, again])
          .execute(),
      )
      start([definition])
      await ended(made.database, now)
      await ended(made.database, again)
      expect(await findOperation(made.database.read, later)).toMatchObject({ state: 'queued' })
      expect(await runAt()).toBe(asked)
    })

    test.skipIf(dialect === 'postgres')(
      'handles a clock that moves forward and back between two looks of the worker',
      async () => {
        vi.useFakeTimers({ toFake: ['Date'], now: Date.now() })
        const definition = oneStep(() => {})
        const worker = start([definition])
        expect(await ended(made.database, await ask(definition))).toMatchObject({ state: 'succeeded' })
        await worker.stop(0)
        vi.setSystemTime(Date.now() - HOUR_MS)
        start([definition])
        expect(await ended(made.database, await ask(definition))).toMatchObject({ state: 'succeeded' })
        // The worker does not look between these lines.
        const id = await made.database.transaction((tx) => {
          vi.setSystemTime(Date.now() + HOUR_MS)
          const enqueued = enqueue(tx, definition, {})
          vi.setSystemTime(Date.now() - HOUR_MS)
          return enqueued
        })
        expect(await ended(made.database, id)).toMatchObject({ state: 'succeeded' })
      },
    )

    test('continues a wait with its remaining time', async () => {
      const definition = oneStep(() => {})
      const id = await made.database.transaction((tx) => enqueue(tx, definition, {}, { afterMs: 10 * HOUR_MS }))
      await lieAhead()
      const waited = async () =>
        made.database.read.selectFrom('operations').select(['run_at', 'waits_since']).executeTakeFirstOrThrow()
      const before = await waited()
      start([definition])
      const after = await until(async () => {
        const row = await waited()
        return row.run_at !== before.run_at && row
      })
      expect(after.run_at - (after.waits_since as number)).toBe(10 * HOUR_MS)
      expect(before.run_at - after.run_at).toBeGreaterThan(HOUR_MS / 2)
      expect(await findOperation(made.database.read, id)).toMatchObject({ state: 'queued' })
    })

    test.skipIf(dialect === 'postgres')(
      'makes the next attempt in time if a running worker sees the change',
      async () => {
        vi.useFakeTimers({ toFake: ['Date'], now: Date.now() })
        const definition = oneStep(
          ({ attempt }) => {
            if (attempt > 1) return
            throw new Error('not yet')
          },
          { backoff: { firstMs: 400, factor: 1, mostMs: 400 } },
        )
        start([definition])
        const id = await ask(definition)
        await until(async () => (await findOperation(made.database.read, id))?.error === 'not yet')
        vi.setSystemTime(Date.now() - HOUR_MS)
        const shown = setInterval(() => vi.setSystemTime(Date.now() + 20), 20)
        try {
          expect(await ended(made.database, id)).toMatchObject({ state: 'succeeded' })
        } finally {
          clearInterval(shown)
        }
      },
    )

    test('continues schedules with their next slot; one whose next slot is recorded already waits for the one after it', async () => {
      const definition = oneStep(() => {})
      const every = (name: string, everyMs: number) =>
        schedule({ name, everyMs, definition, input: (slot) => ({ label: `${name} ${slot}` }) })
      const schedules = [every('minutely', 60_000), every('daily', 24 * HOUR_MS)]
      let now = 24 * HOUR_MS * 100
      const scheduler = createScheduler({ database: made.database, schedules, log: noLog, clock: () => now })
      await scheduler.tick()
      const enqueued = async () =>
        (await made.database.read.selectFrom('operations').select('input').orderBy('id').execute()).map(
          ({ input }) => JSON.parse(input).label as string,
        )
      now -= HOUR_MS
      await scheduler.tick()
      expect(await enqueued()).toEqual([`minutely ${now}`])
      for (let minute = 0; minute < 120; minute++) {
        now += 60_000
        await scheduler.tick()
      }
      const labels = await enqueued()
      expect(labels.filter((label) => label.startsWith('daily'))).toEqual([])
      expect(labels).toHaveLength(121)
      expect(new Set(labels).size).toBe(121)
      now = 24 * HOUR_MS * 101
      await scheduler.tick()
      expect((await enqueued()).filter((label) => label.startsWith('daily'))).toEqual([`daily ${now}`])
    })
  })
}
