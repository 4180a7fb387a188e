import { sql } from 'kysely'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { dialects, type TestDatabase, testDatabase } from '../../../../test/support/database.ts'
import { type Database, isUniqueViolation } from '../../db/database.ts'
import { requestCancel } from '../control.ts'
import { definitionsByName, durable, PermanentFailure, type StepContext, uncounted } from '../definition.ts'
import { type EnqueueOptions, enqueue } from '../enqueue.ts'
import { type AnyInput, anyInput, ended, gate, oneStep, startWorker, until } from '../harness.ts'
import { findOperation } from '../read.ts'
import { recordResults, resultsOfOperation } from '../results.ts'
import { hasResult, wasBegun, wasUndone } from '../steps-of.ts'
import { lookOut } from './claim-operations.ts'
import { readDatabaseTime } from './lease.ts'
import type { Worker } from './worker.ts'

const backoff = { firstMs: 20, factor: 1, mostMs: 20 }

type Line = Record<string, unknown>
const logInto = (lines: Line[]) => pino({ level: 'warn' }, { write: (line) => lines.push(JSON.parse(line)) })

for (const { dialect, skip } of dialects) {
  describe.skipIf(skip)(`worker on ${dialect}`, () => {
    let made: TestDatabase
    let db: Database
    const workers: Worker[] = []
    const start = (...args: Parameters<typeof startWorker> extends [unknown, ...infer Rest] ? Rest : never) => {
      const worker = startWorker(db, ...args)
      workers.push(worker)
      return worker
    }
    const ask = (definition: ReturnType<typeof oneStep>, options?: EnqueueOptions, label?: string) =>
      db.transaction((tx) => enqueue(tx, definition, { ...(label && { label }) }, options))

    beforeEach(async () => {
      made = await testDatabase(dialect)
      db = made.database
    })
    afterEach(async () => {
      await Promise.all(workers.splice(0).map((worker) => worker.stop(0)))
      await made.drop()
    })

    test('creates an operation only if its transaction commits, and only with a fitting input', async () => {
      const definition = oneStep(() => {})
      const failing = db.transaction(async (tx) => {
        await enqueue(tx, definition, {})
        throw new Error('no')
      })
      await expect(failing).rejects.toThrow('no')
      const wrong = db.transaction((tx) => enqueue(tx, definition, { label: 1 as never }))
      await expect(wrong).rejects.toThrow('input of test.one: /label must be string')
      const hostless = db.transaction((tx) =>
        enqueue(
          tx,
          oneStep(() => {}, { on: 'host' }),
          {},
        ),
      )
      await expect(hostless).rejects.toThrow('hostId is needed')
      expect(await db.read.selectFrom('operations').selectAll().execute()).toEqual([])
    })

    test('ends an operation before its first step if its input no longer fits, for example after an update', async () => {
      let ran = 0
      const id = await ask(oneStep(() => ran++))
      await db.transaction((tx) =>
        tx.updateTable('operations').set({ input: '{"label":7}' }).where('id', '=', id).execute(),
      )
      start([oneStep(() => ran++)])
      expect(await ended(db, id)).toMatchObject({
        state: 'failed',
        error: 'The input does not match this version of Stead',
      })
      expect(ran).toBe(0)
    })

    test('reports each write of a worker to its observer, before and after it is visible', async () => {
      const told: string[] = []
      const id = await ask(oneStep(() => {}))
      start([oneStep(() => {})], {
        observe: ({ at, operationId, step }) =>
          told.push(`${operationId === id ? '' : 'another: '}${at} ${step ?? ''}`),
      })
      await ended(db, id)
      await Promise.all(workers.splice(0).map((worker) => worker.stop(5000)))
      expect(told.filter((each) => each.includes('record'))).toEqual(['recording only', 'recorded only'])
    })

    test('runs at most the limit of a type at once, and only with the capacity that others leave', async () => {
      const [limitedGate, order] = [gate(), [] as string[]]
      let [now, most] = [0, 0]
      const limited = oneStep(
        async () => {
          order.push('limited')
          most = Math.max(most, ++now)
          await limitedGate.opened
          now--
        },
        { name: 'test.limited', atOnce: 2 },
      )
      const other = oneStep(() => void order.push('other'))
      const ids: number[] = []
      for (let index = 0; index < 5; index++) ids.push(await ask(limited))
      const last = await ask(other)
      start([limited, other], { concurrency: 3 })
      await ended(db, last)
      await until(() => order.length > 2)
      expect(order).toEqual(['other', 'limited', 'limited'])
      limitedGate.open()
      for (const id of ids) expect((await ended(db, id)).state).toBe('succeeded')
      expect(most).toBe(2)
    })

    test('runs steps in order, each with the results of those before', async () => {
      const definition = durable({
        name: 'test.steps',
        input: anyInput,
        on: 'control',
        changeableBy: 'account',
        steps: {
          first: { run: ({ input, source }: StepContext<AnyInput>) => ({ said: input.label, source }) },
          second: { commit: async (_tx, { results }) => [results.first] },
          third: { run: ({ results }) => results },
        },
      })
      start([definition])
      const options = { source: { email: 'a@example.com' }, siteId: 7, accountId: 8 }
      const id = await db.transaction((tx) => enqueue(tx, definition, { label: 'x' }, options))
      const operation = await ended(db, id)
      expect(operation).toMatchObject({ state: 'succeeded', progress: 100, attempts: 1, siteId: 7, accountId: 8 })
      expect(operation.steps.map(({ name, state }) => `${name} ${state}`)).toEqual([
        'first succeeded',
        'second succeeded',
        'third succeeded',
      ])
      const { result } = await db.read
        .selectFrom('operation_steps')
        .select('result')
        .where('name', '=', 'third')
        .executeTakeFirstOrThrow()
      const first = { said: 'x', source: { email: 'a@example.com' } }
      expect(JSON.parse(result ?? '')).toEqual({ first, second: [first] })
    })

    test('runs operations of one site in order of creation, even while one waits for its next attempt', async () => {
      const log: string[] = []
      const definition = oneStep(
        ({ input, attempt }) => {
          log.push(`${input.label}${attempt}`)
          if (input.label === 'a' && attempt < 3) throw new Error('not yet')
        },
        { backoff },
      )
      start([definition])
      start([definition])
      const ids = await db.transaction(async (tx) => {
        const all: number[] = []
        for (const label of ['a', 'b', 'c']) all.push(await enqueue(tx, definition, { label }, { siteId: 1 }))
        return all
      })
      for (const id of ids) await ended(db, id)
      expect(log).toEqual(['a1', 'a2', 'a3', 'b1', 'c1'])
    })

    test('runs operations of different sites, and of none, at the same time, up to the limit', async () => {
      let now = 0
      let most = 0
      const all = gate()
      const definition = oneStep(async () => {
        now++
        most = Math.max(most, now)
        if (now === 3) all.open()
        await all.opened
        now--
      })
      start([definition], { concurrency: 3 })
      const ids = await Promise.all([1, 2, 3, 4, null, null].map((siteId) => ask(definition, { siteId })))
      for (const id of ids) await ended(db, id)
      expect(most).toBe(3)
    })

    test('refuses a second begun operation of a site in the database itself', async () => {
      const definition = oneStep(() => {})
      const first = await ask(definition, { siteId: 1 })
      const second = await ask(definition, { siteId: 1 })
      const begin = (id: number) =>
        db.transaction((tx) => tx.updateTable('operations').set({ started_at: 1 }).where('id', '=', id).execute())
      await begin(first)
      await expect(begin(second)).rejects.toSatisfy(isUniqueViolation)
    })

    test('waits for other operations to end, successfully or not, before later ones of its own site', async () => {
      const log: string[] = []
      const goes = gate()
      const definition = oneStep(async ({ input }) => {
        if (input.label !== 'last') await goes.opened
        log.push(input.label as string)
        if (input.label === 'fails') throw new PermanentFailure('no')
      })
      start([definition], { concurrency: 4 })
      const first = await ask(definition, { siteId: 1 }, 'first')
      const fails = await ask(definition, { siteId: 2 }, 'fails')
      const waits = await ask(definition, { siteId: 3, after: [first, fails, fails, 999] }, 'waits')
      const later = await ask(definition, { siteId: 3 }, 'later')
      const last = await ask(definition, { siteId: 4 }, 'last')
      await ended(db, last)
      expect(await findOperation(db.read, waits)).toMatchObject({ state: 'queued' })
      goes.open()
      for (const id of [waits, later]) await ended(db, id)
      expect(log.slice(1, 3).toSorted()).toEqual(['fails', 'first'])
      expect(log.slice(3)).toEqual(['waits', 'later'])
    })

    test('waits with a delayed operation until its time, and holds up nothing before', async () => {
      const log: string[] = []
      const definition = oneStep(({ input, now }) => log.push(`${input.label} ${now()}`))
      start([definition])
      const late = await ask(definition, { siteId: 1, runAt: Date.now() + 3_600_000 }, 'late')
      const early = await ask(definition, { siteId: 1 }, 'early')
      await ended(db, early)
      expect(await findOperation(db.read, late)).toMatchObject({ state: 'queued' })
      const runAt = Date.now() + 400
      await db.transaction((tx) => tx.updateTable('operations').set({ run_at: runAt }).where('id', '=', late).execute())
      await ended(db, late)
      expect(log.map((line) => line.split(' ')[0])).toEqual(['early', 'late'])
      expect(Number(log[1]?.split(' ')[1])).toBeGreaterThanOrEqual(runAt)
    })

    test('knows how long there is nothing to do if an operation is queued for later', async () => {
      const definition = oneStep(() => {})
      const claimant = { owner: 'w', runner: 'control', hostId: null, leaseMs: 800 } as const
      const look = () => lookOut(db.read, { ...claimant, definitions: definitionsByName([definition]) })
      expect(await look()).toMatchObject({ due: false, waitMs: undefined })
      const runAt = Date.now() + 3_600_000
      await ask(definition, { runAt })
      const before = await readDatabaseTime(db)
      const { due, waitMs } = await look()
      expect(due).toBe(false)
      expect(waitMs).toBeLessThanOrEqual(runAt - before)
      expect(waitMs).toBeGreaterThanOrEqual(runAt - (await readDatabaseTime(db)))
      await ask(definition)
      expect(await look()).toMatchObject({ due: true })
    })

    test('waits with a delayed operation while a later one is begun, and runs those of other sites', async () => {
      const log: string[] = []
      const definition = oneStep(
        ({ input, attempt }) => {
          log.push(`${input.label}${attempt}`)
          if (input.label === 'begun' && attempt === 1) throw new Error('not yet')
        },
        { backoff: { firstMs: 3_600_000, mostMs: 3_600_000 } },
      )
      start([definition])
      const delayed = await ask(definition, { siteId: 1, runAt: Date.now() + 3_600_000 }, 'delayed')
      const begun = await ask(definition, { siteId: 1 }, 'begun')
      await until(async () => (await findOperation(db.read, begun))?.error === 'not yet')
      const makeDue = (id: number) =>
        db.transaction((tx) => tx.updateTable('operations').set({ run_at: 1 }).where('id', '=', id).execute())
      await makeDue(delayed)
      await ended(db, await ask(definition, { siteId: 2 }, 'other'))
      await makeDue(begun)
      await ended(db, delayed)
      expect(log).toEqual(['begun1', 'other1', 'begun2', 'delayed1'])
    })

    test('does not count attempts that the machine broke off, however many there are', async () => {
      class Starved extends Error {
        readonly [uncounted] = true
      }
      const attempts: number[] = []
      const definition = durable({
        name: 'test.starved',
        input: anyInput,
        on: 'control',
        changeableBy: 'account',
        attempts: 1,
        backoff,
        steps: {
          one: {
            async run({ attempt }) {
              attempts.push(attempt)
              if (attempts.length < 4) throw new Error('PHP did not start', { cause: new Starved('no processor') })
            },
          },
        },
      })
      start([definition])
      const id = await db.transaction((tx) => enqueue(tx, definition, { label: 'x' }))
      expect(await ended(db, id)).toMatchObject({ state: 'succeeded', error: null })
      expect(attempts).toEqual([1, 1, 1, 1])
    })

    test('ends retries with the last error, readable and without secrets, and undoes done and half-done steps in reverse order', async () => {
      const log: string[] = []
      const note = (text: string) => () => void log.push(text)
      const definition = durable({
        name: 'test.undo',
        input: anyInput,
        on: 'control',
        changeableBy: 'account',
        attempts: 3,
        backoff,
        steps: {
          one: { run: note('one'), undo: note('undo one') },
          two: { run: note('two') },
          three: { commit: async () => log.push('three'), undo: async () => log.push('undo three') },
          four: {
            run({ attempt }) {
              log.push('four')
              throw new Error(`no ${attempt} at https://me:secret@example.com/?token=abc\n    at x (y.ts:1:1)`)
            },
            undo: note('undo four'),
          },
          five: { run: note('five'), undo: note('undo five') },
        },
        async failed(tx, { error, canceled, operationId, input }) {
          const text = JSON.stringify({ error, canceled, input })
          await tx.insertInto('schedules').values({ name: text, last_slot: operationId }).execute()
        },
      })
      start([definition])
      const id = await db.transaction((tx) => enqueue(tx, definition, { label: 'x' }))
      const operation = await ended(db, id)
      const error = 'no 3 at https://example.com/?token=(hidden)'
      expect(operation).toMatchObject({ state: 'failed', error, isPermanent: false, attempts: 3 })
      expect(operation.steps.map(({ state }) => state)).toEqual(['undone', 'succeeded', 'undone', 'undone', 'skipped'])
      expect(log).toEqual(['one', 'two', 'three', 'four', 'four', 'four', 'undo four', 'undo three', 'undo one'])
      const hook = { name: JSON.stringify({ error, canceled: false, input: { label: 'x' } }), last_slot: id }
      expect(await db.read.selectFrom('schedules').selectAll().execute()).toEqual([hook])
    })

    test('retries an undo, and records its failure without stopping the others', async () => {
      const log: string[] = []
      const definition = durable({
        name: 'test.undo',
        input: anyInput,
        on: 'control',
        changeableBy: 'account',
        attempts: 2,
        backoff,
        steps: {
          one: { run() {}, undo: () => void log.push('one') },
          two: {
            run() {},
            undo() {
              log.push('two')
              throw new Error('stuck')
            },
          },
          three: {
            run() {
              throw new PermanentFailure('never')
            },
          },
        },
        async failed() {
          throw new Error('a broken hook')
        },
      })
      const said: Line[] = []
      start([definition], { log: logInto(said) })
      const id = await db.transaction((tx) => enqueue(tx, definition, {}))
      const operation = await ended(db, id)
      expect(operation).toMatchObject({ state: 'failed', error: 'never', isPermanent: true })
      expect(operation.steps.map(({ state, error }) => [state, error])).toEqual([
        ['undone', null],
        ['undo_failed', 'undo: stuck'],
        ['failed', 'never'],
      ])
      expect(log).toEqual(['two', 'two', 'one'])
      const failures = said.filter(({ msg }) => msg === 'a step of an operation failed')
      expect(failures.map(({ operationId, step, attempt, undo }) => [operationId, step, attempt, undo])).toEqual([
        [id, 'three', 1, false],
        [id, 'two', 1, true],
        [id, 'two', 2, true],
      ])
      const steps = ['one', 'two', 'three', 'none']
      const each = (say: typeof wasUndone) => Promise.all(steps.map((step) => say(db.read, id, step)))
      expect(await each(wasUndone)).toEqual([true, false, false, true])
      expect(await each(wasBegun)).toEqual([true, true, true, false])
    })

    test('reports for each step whether it was begun, and left a result', async () => {
      const definition = durable({
        name: 'test.results',
        input: anyInput,
        on: 'control',
        changeableBy: 'account',
        steps: {
          nothing: { run() {} },
          something: { run: () => 'done' },
          later: {
            run() {
              throw new PermanentFailure('no')
            },
          },
          never: { run() {} },
        },
      })
      start([definition])
      const other = await db.transaction((tx) => enqueue(tx, definition, {}, { runAt: Date.now() + 1e9 }))
      const id = await db.transaction((tx) => enqueue(tx, definition, {}))
      await ended(db, id)
      const steps = ['nothing', 'something', 'later', 'never']
      const each = (say: typeof wasBegun, of = id) => Promise.all(steps.map((step) => say(db.read, of, step)))
      expect(await each(hasResult)).toEqual([false, true, false, false])
      expect(await each(wasBegun)).toEqual([true, true, true, false])
      expect(await each(wasUndone)).toEqual([false, false, false, true])
      expect(await each(wasBegun, other)).toEqual([false, false, false, false])
      expect(await each(hasResult, other)).toEqual([false, false, false, false])
    })

    test('commits a step and its record together: neither stays when it throws', async () => {
      const definition = durable({
        name: 'test.commit',
        input: anyInput,
        on: 'control',
        changeableBy: 'account',
        backoff,
        steps: {
          change: {
            async commit(tx, { attempt }) {
              await tx
                .insertInto('schedules')
                .values({ name: `attempt ${attempt}`, last_slot: 1 })
                .execute()
              if (attempt === 1) throw new Error('after writing')
              if (attempt === 2) await sql`select nonsense`.execute(tx)
            },
          },
        },
      })
      start([definition])
      const id = await db.transaction((tx) => enqueue(tx, definition, {}))
      expect(await ended(db, id)).toMatchObject({ state: 'succeeded', attempts: 3, error: null })
      expect(await db.read.selectFrom('schedules').select('name').execute()).toEqual([{ name: 'attempt 3' }])
    })

    test('rejects every write of a worker that has lost its lease: results, commits, and others', async () => {
      const reached: string[] = []
      const stolen = gate()
      const lost: string[] = []
      const definition = durable({
        name: 'test.fence',
        input: anyInput,
        on: 'control',
        changeableBy: 'account',
        steps: {
          work: {
            async run({ transaction }) {
              reached.push('work')
              await stolen.opened
              const writing = transaction((tx) =>
                tx.insertInto('schedules').values({ name: 'late', last_slot: 1 }).execute(),
              )
              await writing.catch((error) => lost.push(error.name))
              return 'late'
            },
          },
        },
      })
      const said: Line[] = []
      start([definition], { observe: ({ at }) => at === 'lost' && lost.push(at), log: logInto(said) })
      const id = await db.transaction((tx) => enqueue(tx, definition, {}))
      await until(() => reached.length > 0)
      const steal = { lease_owner: 'thief', lease_until: Date.now() + 1e9 }
      await db.transaction((tx) => tx.updateTable('operations').set(steal).where('id', '=', id).execute())
      stolen.open()
      await until(() => lost.length === 2)
      expect(lost).toEqual(['LeaseLost', 'lost'])
      expect(said).toMatchObject([{ level: 40, operationId: id, msg: 'another worker took over an operation' }])
      expect(await findOperation(db.read, id)).toMatchObject({ state: 'running', steps: [{ state: 'running' }] })
      expect(await db.read.selectFrom('schedules').selectAll().execute()).toEqual([])
    })

    test('gives up an operation whose lease could not be renewed in time, and logs that none can be taken up', async () => {
      let isAway = false
      const transaction: Database['transaction'] = (work) =>
        isAway ? Promise.reject(new Error('away')) : db.transaction(work)
      const definition = oneStep(async ({ signal }) => {
        isAway = true
        const reason = await new Promise((given) => signal.addEventListener('abort', () => given(signal.reason)))
        reasons.push(String(reason))
      })
      const [said, reasons] = [[] as Line[], [] as string[]]
      const worker = startWorker({ ...db, transaction }, [definition], { leaseMs: 400, log: logInto(said) })
      workers.push(worker)
      await ask(definition)
      await until(() => reasons.length > 0)
      expect(reasons).toEqual(['Error: lost'])
      await ask(definition)
      await until(() => said.some(({ msg }) => msg === 'could not claim operations'))
      expect(said).toContainEqual(expect.objectContaining({ level: 40, msg: 'could not renew leases of operations' }))
      isAway = false
    })

    test('keeps the lease of a step that does not stop, and logs it', async () => {
      const [begun, over, said] = [gate(), gate(), [] as Line[]]
      const definition = oneStep(async () => {
        begun.open()
        await over.opened
      })
      const worker = start([definition], { leaseMs: 600_000, log: logInto(said) })
      const id = await ask(definition)
      await begun.opened
      await worker.stop(0)
      expect(said).toMatchObject([
        { level: 40, operations: 1, msg: 'running steps did not stop, their operations resume at the next start' },
      ])
      expect(await findOperation(db.read, id)).toMatchObject({ state: 'running' })
      over.open()
    })

    test('returns results for any number of sites, each once, in order', async () => {
      const definition = oneStep(() => {})
      for (const many of [1000, 1001]) {
        const id = await ask(definition)
        const siteIds = Array.from({ length: many }, (_, index) => index + 1)
        const results = siteIds.map((siteId) => ({ siteId, outcome: 'added' }))
        await db.transaction((tx) => recordResults(tx, id, results.toReversed()))
        expect((await resultsOfOperation(db.read, id)).map(({ siteId }) => siteId)).toEqual(siteIds)
      }
    })

    test('runs host-bound operations on their host, and leaves unknown types waiting', async () => {
      const definition = oneStep(({ services }) => services, { on: 'host' })
      start([definition], { runner: 'host', hostId: 1, services: 'one' })
      const second = await ask(definition, { hostId: 2 })
      const first = await ask(definition, { hostId: 1 })
      await ended(db, first)
      expect(await findOperation(db.read, second)).toMatchObject({ state: 'queued', attempts: 0 })
      start([oneStep(() => {}, { name: 'test.other', on: 'host' })], { runner: 'host', hostId: 2 })
      start([definition], { runner: 'host', hostId: 2, services: 'two' })
      await ended(db, second)
      const results = await db.read
        .selectFrom('operation_steps')
        .select('result')
        .orderBy('operation_id', 'desc')
        .execute()
      expect(results).toEqual([{ result: '"one"' }, { result: '"two"' }])
    })

    test('waits for the running step on stop, and hands over the rest of the operation at once', async () => {
      const log: string[] = []
      const begun = gate()
      const go = gate()
      const step = (name: string) => ({
        async run({ services }: { services: unknown }) {
          log.push(`${name} ${services}`)
          begun.open()
          if (services === 'one') await go.opened
        },
      })
      const definition = durable({
        name: 'test.stop',
        input: anyInput,
        on: 'control',
        changeableBy: 'account',
        steps: { first: step('first'), second: step('second') },
      })
      const one = start([definition], { services: 'one', leaseMs: 600_000 })
      const id = await db.transaction((tx) => enqueue(tx, definition, {}))
      await begun.opened
      const stopped = one.stop(60_000)
      go.open()
      await stopped
      start([definition], { services: 'two', leaseMs: 600_000 })
      expect(await ended(db, id)).toMatchObject({ state: 'succeeded', attempts: 2 })
      expect(log).toEqual(['first one', 'second two'])
    })

    test('aborts a step on stop that exceeds the grace time, and does not count that attempt', async () => {
      const begun = gate()
      const attempts: number[] = []
      const definition = oneStep(async ({ signal, services, attempt }) => {
        attempts.push(attempt)
        begun.open()
        if (services === 'one') await new Promise((_, reject) => signal.addEventListener('abort', reject))
      })
      const one = start([definition], { services: 'one', leaseMs: 600_000 })
      const id = await ask(definition)
      await begun.opened
      await one.stop(1)
      expect((await findOperation(db.read, id))?.steps).toMatchObject([{ state: 'pending' }])
      start([definition], { services: 'two', leaseMs: 600_000 })
      expect(await ended(db, id)).toMatchObject({ state: 'succeeded', attempts: 2 })
      expect(attempts).toEqual([1, 1])
    })

    test('writes weighted progress while a step runs', async () => {
      const [begun, looked, go] = [gate(), gate(), gate()]
      const definition = durable({
        name: 'test.progress',
        input: anyInput,
        on: 'control',
        changeableBy: 'account',
        steps: {
          small: { run() {} },
          big: {
            weight: 3,
            async run({ progress }) {
              begun.open()
              await looked.opened
              for (const fraction of [0.1, 0.2, Number.NaN, 7, 0.5]) progress(fraction)
              await go.opened
            },
          },
        },
      })
      start([definition])
      const id = await db.transaction((tx) => enqueue(tx, definition, {}))
      await begun.opened
      expect(await findOperation(db.read, id)).toMatchObject({ progress: 25 })
      looked.open()
      await until(async () => (await findOperation(db.read, id))?.progress === 62)
      go.open()
      expect(await ended(db, id)).toMatchObject({ state: 'succeeded', progress: 100 })
    })

    test('reports whole bytes for a step that moves bytes, and all of them when it is done', async () => {
      const go = gate()
      const definition = durable({
        name: 'test.bytes',
        input: anyInput,
        on: 'control',
        changeableBy: 'account',
        steps: {
          copy: {
            async run({ progressBytes }) {
              // An estimate may have a fraction.
              progressBytes(5_000_000_000.2, 20_000_000_000.4)
              await go.opened
            },
          },
          after: { run() {} },
        },
      })
      start([definition])
      const id = await db.transaction((tx) => enqueue(tx, definition, {}))
      const bytes = async () => (await findOperation(db.read, id))?.steps.map((step) => step.bytes)
      await until(async () => (await bytes())?.[0]?.done === 5_000_000_000)
      expect(await findOperation(db.read, id)).toMatchObject({ progress: 12 })
      go.open()
      await ended(db, id)
      expect(await bytes()).toEqual([{ done: 20_000_000_000, total: 20_000_000_000 }, null])
    })

    test('refuses two types with one name', () => {
      expect(() => definitionsByName([oneStep(() => {}), oneStep(() => {})])).toThrow('same name')
    })

    test('gives up, and undoes, a step that crashes its process each time', async () => {
      let undone = 0
      const definition = durable({
        name: 'test.deadly',
        input: anyInput,
        on: 'control',
        changeableBy: 'account',
        attempts: 1,
        steps: { only: { run() {}, undo: () => void undone++ } },
      })
      const id = await db.transaction((tx) => enqueue(tx, definition, {}))
      await db.transaction(async (tx) => {
        const dead = { state: 'running' as const, started_at: 1, lease_owner: 'dead', lease_until: 1, attempts: 6 }
        await tx.updateTable('operations').set(dead).execute()
        await tx.updateTable('operation_steps').set({ state: 'running', attempts: 6, started_at: 1 }).execute()
      })
      start([definition])
      expect(await ended(db, id)).toMatchObject({ state: 'failed', error: 'Step only was interrupted 6 times' })
      expect(undone).toBe(1)
      expect(await db.transaction((tx) => requestCancel(tx, id, 1))).toBe('too_late')
    })
  })
}
