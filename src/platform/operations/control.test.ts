import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { countReads } from '../../../test/support/count-reads.ts'
import { dialects, type TestDatabase, testDatabase } from '../../../test/support/database.ts'
import type { Database } from '../db/database.ts'
import { cancelOpenOperations, requestCancel, requeueOperation } from './control.ts'
import { definitionsByName, durable, PermanentFailure } from './definition.ts'
import { enqueue, ROUTINE } from './enqueue.ts'
import { forgetEndedBefore, forgetRoutine } from './forget.ts'
import { anyInput, ended, gate, oneStep, startWorker, until } from './harness.ts'
import { findOperation, findOperations, type OperationView } from './read.ts'
import { createOperationWatch } from './worker/watch.ts'
import type { Worker } from './worker/worker.ts'

const aborted = (signal: AbortSignal) =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))))

for (const { dialect, skip } of dialects) {
  describe.skipIf(skip)(`control on ${dialect}`, () => {
    let made: TestDatabase
    let db: Database
    const workers: Worker[] = []
    const start = (...args: Parameters<typeof startWorker> extends [unknown, ...infer Rest] ? Rest : never) => {
      workers.push(startWorker(db, ...args))
    }
    const ask = (definition: ReturnType<typeof oneStep>, siteId?: number) =>
      db.transaction((tx) => enqueue(tx, definition, {}, siteId === undefined ? {} : { siteId }))
    const cancel = (id: number) => db.transaction((tx) => requestCancel(tx, id, 99))

    beforeEach(async () => {
      made = await testDatabase(dialect)
      db = made.database
    })
    afterEach(async () => {
      await Promise.all(workers.splice(0).map((worker) => worker.stop(0)))
      await made.drop()
    })

    test('cancels a queued operation at once, with its hook in the same transaction', async () => {
      const definition = oneStep(() => {}, {
        failed: (tx, { canceled, now }) =>
          tx
            .insertInto('schedules')
            .values({ name: `canceled ${canceled}`, last_slot: now() })
            .execute(),
      })
      const id = await ask(definition)
      const definitions = definitionsByName([definition])
      expect(await db.transaction((tx) => requestCancel(tx, id, 99, definitions))).toBe('canceled')
      expect(await findOperation(db.read, id)).toMatchObject({
        state: 'canceled',
        finishedAt: 99,
        error: null,
        steps: [{ state: 'skipped' }],
      })
      expect(await db.read.selectFrom('schedules').selectAll().execute()).toEqual([
        { name: 'canceled true', last_slot: 99 },
      ])
      expect(await cancel(id)).toBe('too_late')
      expect(await cancel(id + 1)).toBe('unknown')
    })

    test('aborts a running operation wherever it runs, and undoes its work', async () => {
      const log: string[] = []
      const begun = gate()
      const definition = durable({
        name: 'test.cancel',
        input: anyInput,
        on: 'control',
        changeableBy: 'account',
        steps: {
          before: { run() {}, undo: () => void log.push('undo before') },
          during: {
            async run({ signal }) {
              begun.open()
              await aborted(signal)
            },
            undo: ({ signal }) => void log.push(`undo during ${signal.aborted}`),
          },
          after: { run: () => void log.push('after') },
        },
      })
      // The heartbeat is longer than this test, so only the notification can abort the operation.
      start([definition], { leaseMs: 600_000 })
      const id = await db.transaction((tx) => enqueue(tx, definition, {}))
      await begun.opened
      expect(await cancel(id)).toBe('requested')
      const operation = await ended(db, id)
      expect(operation).toMatchObject({ state: 'canceled', error: null, cancelRequested: true })
      expect(operation.steps.map(({ state }) => state)).toEqual(['undone', 'undone', 'skipped'])
      expect(log).toEqual(['undo during false', 'undo before'])
    })

    test('cancels a commit step before it starts, or not at all', async () => {
      const begun = gate()
      const go = gate()
      const definition = durable({
        name: 'test.commit',
        input: anyInput,
        on: 'control',
        changeableBy: 'account',
        steps: {
          slow: {
            async run() {
              begun.open()
              await go.opened
            },
          },
          change: { commit: (tx) => tx.insertInto('schedules').values({ name: 'x', last_slot: 1 }).execute() },
        },
      })
      start([definition])
      const id = await db.transaction((tx) => enqueue(tx, definition, {}))
      await begun.opened
      await cancel(id)
      go.open()
      expect(await ended(db, id)).toMatchObject({ state: 'canceled' })
      expect(await db.read.selectFrom('schedules').selectAll().execute()).toEqual([])
    })

    test('cancels an operation at once while it waits for its next attempt', async () => {
      let undone = 0
      const definition = oneStep(() => {}, {
        backoff: { firstMs: 3_600_000, mostMs: 3_600_000 },
        steps: {
          only: {
            run() {
              throw new Error('not yet')
            },
            undo: () => void undone++,
          },
        },
      })
      start([definition])
      const id = await ask(definition)
      await until(async () => (await findOperation(db.read, id))?.error === 'not yet')
      expect(await cancel(id)).toBe('requested')
      expect(await ended(db, id)).toMatchObject({ state: 'canceled', error: null })
      expect(undone).toBe(1)
    })

    test('repeats undone steps when a failed operation is retried, but no commit', async () => {
      const log: string[] = []
      let broken = true
      const step = (name: string) => ({ run: () => void log.push(name) })
      const definition = durable({
        name: 'test.retry',
        input: anyInput,
        on: 'control',
        changeableBy: 'account',
        attempts: 1,
        steps: {
          first: { ...step('first'), undo: () => void log.push('undo first') },
          kept: step('kept'),
          undone: { ...step('undone'), undo: () => void log.push('undo') },
          committed: { commit: async () => log.push('committed') },
          after: step('after'),
          breaks: {
            run() {
              if (broken) throw new PermanentFailure('broken')
              log.push('mended')
            },
          },
        },
      })
      const definitions = definitionsByName([definition])
      const retry = (id: number) => db.transaction((tx) => requeueOperation(tx, id, definitions))
      start([definition])
      const id = await db.transaction((tx) => enqueue(tx, definition, {}))
      expect(await ended(db, id)).toMatchObject({ state: 'failed', error: 'broken', isPermanent: true })
      expect(log.splice(0)).toEqual(['first', 'kept', 'undone', 'committed', 'after', 'undo', 'undo first'])
      broken = false
      expect(await retry(id)).toBe('queued')
      expect(await ended(db, id)).toMatchObject({ state: 'succeeded', error: null, isPermanent: false, progress: 100 })
      expect(log).toEqual(['first', 'kept', 'undone', 'after', 'mended'])
      expect(await retry(id)).toBe('not_ended')
      expect(await retry(id + 1)).toBe('unknown')
    })

    describe('behind a point of no return', () => {
      const log: string[] = []
      let cleanUp: (signal: AbortSignal) => unknown
      let allowed: string | undefined
      const definition = durable({
        name: 'test.point',
        input: anyInput,
        on: 'control',
        changeableBy: 'account',
        attempts: 1,
        permission: async () => allowed,
        steps: {
          before: { run: () => void log.push('before'), undo: () => void log.push('undo before') },
          point: { commit: async () => log.push('point'), pointOfNoReturn: true },
          after: { run: ({ signal }) => cleanUp(signal), undo: () => void log.push('undo after') },
          last: { commit: async () => log.push('last') },
        },
        failed: async () => log.push('failed'),
      })
      const definitions = definitionsByName([definition])
      const ask = () => db.transaction((tx) => enqueue(tx, definition, {}, { askedById: 1 }))
      beforeEach(() => {
        log.length = 0
        allowed = undefined
      })

      test('nothing before it is undone, and a retry repeats only the rest', async () => {
        cleanUp = () => {
          throw new PermanentFailure('broken')
        }
        start([definition])
        const id = await ask()
        expect(await ended(db, id)).toMatchObject({ state: 'failed', error: 'broken' })
        expect(log.splice(0)).toEqual(['before', 'point', 'undo after'])
        cleanUp = () => log.push('after')
        await db.transaction((tx) => requeueOperation(tx, id, definitions))
        expect(await ended(db, id)).toMatchObject({ state: 'succeeded' })
        expect(log).toEqual(['after', 'last'])
      })

      test('a retry leaves alone what an older Stead has undone', async () => {
        cleanUp = () => {
          throw new PermanentFailure('broken')
        }
        start([definition])
        const id = await ask()
        await ended(db, id)
        await db.transaction((tx) =>
          tx.updateTable('operation_steps').set({ state: 'undone' }).where('name', '=', 'before').execute(),
        )
        log.length = 0
        cleanUp = () => log.push('after')
        await db.transaction((tx) => requeueOperation(tx, id, definitions))
        expect(await ended(db, id)).toMatchObject({ state: 'succeeded' })
        expect(log).toEqual(['after', 'last'])
      })

      test('a cancel comes too late, and does not interrupt', async () => {
        const [begun, go] = [gate(), gate()]
        let isAborted = false
        cleanUp = async (signal) => {
          begun.open()
          await go.opened
          isAborted = signal.aborted
        }
        const other = oneStep(({ signal }) => aborted(signal))
        start([definition, other])
        const id = await ask()
        await begun.opened
        const otherId = await db.transaction((tx) => enqueue(tx, other, {}))
        await until(async () => (await findOperation(db.read, otherId))?.state === 'running')
        const cancel = (...known: [typeof definitions?]) => db.transaction((tx) => requestCancel(tx, id, 99, ...known))
        expect(await cancel(definitions)).toBe('too_late')
        expect(await cancel()).toBe('requested')
        // The worker sees both requests at once.
        await db.transaction((tx) => requestCancel(tx, otherId, 99))
        expect(await ended(db, otherId)).toMatchObject({ state: 'canceled' })
        go.open()
        expect(await ended(db, id)).toMatchObject({ state: 'succeeded' })
        expect([isAborted, log]).toEqual([false, ['before', 'point', 'last']])
      })

      test('nobody needs a permission', async () => {
        cleanUp = () => {
          allowed = 'not any more'
          log.push('after')
        }
        start([definition])
        expect(await ended(db, await ask())).toMatchObject({ state: 'succeeded' })
        expect(log).toEqual(['before', 'point', 'after', 'last'])
      })
    })

    test('retries only failed and canceled operations', async () => {
      const definition = oneStep(() => {})
      const definitions = definitionsByName([definition])
      const retry = (id: number) => db.transaction((tx) => requeueOperation(tx, id, definitions))
      const id = await ask(definition)
      expect(await retry(id)).toBe('not_ended')
      await cancel(id)
      expect(await retry(id)).toBe('queued')
      start([definition])
      expect(await ended(db, id)).toMatchObject({ state: 'succeeded' })
      expect([await retry(id), await retry(id + 1)]).toEqual(['not_ended', 'unknown'])
    })

    test('cancels all open operations of a site together', async () => {
      const begun = gate()
      const definition = oneStep(({ signal }) => {
        begun.open()
        return aborted(signal)
      })
      start([definition])
      const [first, second] = [await ask(definition, 1), await ask(definition, 1)]
      await begun.opened
      await db.transaction((tx) => cancelOpenOperations(tx, 1, 99))
      expect(await findOperation(db.read, second)).toMatchObject({ state: 'canceled', attempts: 0 })
      expect(await ended(db, first)).toMatchObject({ state: 'canceled', attempts: 1 })
    })

    test('lists operations newest first, with filters and pages, and only those that the caller may see', async () => {
      const definition = oneStep(() => {})
      const other = oneStep(() => {}, { name: 'test.other' })
      for (const siteId of [1, 2, 1]) await ask(definition, siteId)
      await ask(other, 2)
      await cancel(1)
      const ids = async (
        ...args: Parameters<typeof findOperations> extends [unknown, ...infer Rest] ? Rest : never
      ) => {
        const { operations, total } = await findOperations(db.read, ...args)
        return { ids: operations.map(({ id }) => id), total }
      }
      const page = { perPage: 10, offset: 0 }
      expect(await ids({}, { perPage: 2, offset: 1 })).toEqual({ ids: [3, 2], total: 4 })
      expect(await ids({ siteId: 1 }, page)).toEqual({ ids: [3, 1], total: 2 })
      expect(await ids({ state: 'canceled' }, page)).toEqual({ ids: [1], total: 1 })
      expect(await ids({ type: 'test.other' }, page)).toEqual({ ids: [4], total: 1 })
      expect(await ids({ visible: (eb) => eb('site_id', 'in', [2]) }, page)).toEqual({ ids: [4, 2], total: 2 })
      expect(await findOperation(db.read, 1, (eb) => eb('site_id', '=', 2))).toBeUndefined()
    })

    test("shows a watcher the operation's current state, each step, and its end", async () => {
      const steps = [gate(), gate()]
      const definition = durable({
        name: 'test.watch',
        input: anyInput,
        on: 'control',
        changeableBy: 'account',
        steps: { one: { run: () => steps[0]?.opened }, two: { run: () => steps[1]?.opened } },
      })
      const id = await db.transaction((tx) => enqueue(tx, definition, {}))
      const watches = createOperationWatch(db)
      const seen: string[] = []
      for await (const operation of watches.follow(id)) {
        const text = `${operation.state} ${operation.steps.map(({ state }) => state).join(' ')}`
        if (seen.at(-1) !== text) seen.push(text)
        if (seen.length === 1) start([definition])
        else steps[seen.length - 2]?.open()
      }
      expect(seen).toEqual([
        'queued pending pending',
        'running running pending',
        'running succeeded running',
        'succeeded succeeded succeeded',
      ])
      const gone = new AbortController()
      const waiting = await ask(oneStep(() => {}))
      for await (const _ of watches.follow(waiting, gone.signal)) gone.abort()
      for await (const _ of watches.follow(4711)) expect.unreachable()
    })

    test('shares one read and one object among all watchers, and reads nothing without watchers', async () => {
      const id = await ask(oneStep(() => {}))
      const [reads, watches] = [countReads(db), createOperationWatch(db)]
      const told = Array.from({ length: 200 }, () => [] as unknown[])
      const ends = told.map((views) => watches.watch(id, (view) => views.push(view)))
      await expect.poll(() => told.every(({ length }) => length === 1)).toBe(true)
      expect(new Set(told.flat()).size).toBe(1)
      await db.transaction((tx) => tx.updateTable('operations').set({ progress: 7 }).where('id', '=', id).execute())
      await expect.poll(() => told.every((views) => (views.at(-1) as OperationView).progress === 7)).toBe(true)
      expect(new Set(told.flat()).size).toBe(2)
      // Each look reads the operation and its steps.
      expect(reads.count()).toBeLessThan(60)
      for (const end of ends) end()
      const before = reads.count()
      await db.transaction((tx) => tx.updateTable('operations').set({ progress: 8 }).where('id', '=', id).execute())
      await new Promise((resolve) => setTimeout(resolve, 300))
      expect(reads.count()).toBe(before)
      reads.stop()
    })

    test('removes only the surplus operations of an account, the oldest routine ones first', async () => {
      const definition = oneStep(() => {})
      const orders = [ROUTINE, {}, ROUTINE, ROUTINE, {}]
      const ids: number[] = []
      for (const [index, source] of orders.entries()) {
        const id = await db.transaction((tx) => enqueue(tx, definition, {}, { accountId: 7, source }))
        // The first one has not ended.
        if (index > 0) await db.transaction((tx) => requestCancel(tx, id, 99))
        ids.push(id)
      }
      const other = await db.transaction((tx) => enqueue(tx, definition, {}, { accountId: 8, source: ROUTINE }))
      await db.transaction((tx) => requestCancel(tx, other, 99))
      const left = async () => (await db.read.selectFrom('operations').select('id').execute()).map(({ id }) => id)
      expect(await db.transaction((tx) => forgetRoutine(tx, 7, 5))).toBe(0)
      expect(await db.transaction((tx) => forgetRoutine(tx, 7, 4))).toBe(1)
      expect((await left()).sort()).toEqual([...ids.filter((id) => id !== ids[2]), other].sort())
    })

    test('deletes operations that ended long ago, with their steps, and keeps others', async () => {
      const definition = oneStep(() => {})
      const ids = [await ask(definition), await ask(definition), await ask(definition)]
      await db.transaction((tx) => requestCancel(tx, ids[0] as number, 99))
      await db.transaction((tx) => requestCancel(tx, ids[1] as number, 100))
      expect(await db.transaction((tx) => forgetEndedBefore(tx, 100))).toBe(1)
      expect(await db.transaction((tx) => forgetEndedBefore(tx, 100))).toBe(0)
      const left = await db.read.selectFrom('operation_steps').select('operation_id').orderBy('operation_id').execute()
      expect(left.map(({ operation_id }) => operation_id)).toEqual(ids.slice(1))
    })
  })
}
