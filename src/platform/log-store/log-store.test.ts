import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setImmediate as breathe } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { dialects, type TestDatabase, testDatabase } from '../../../test/support/database.ts'
import { DAY_MS } from '../durations.ts'
import { createLogIds } from './log-ids.ts'
import { droppedIn, type LogPosition, type LogQuery, type LogRecord, type LogStore } from './log-store.ts'
import { openLogStore } from './open-log-store.ts'

const fixture = fileURLToPath(new URL('writer.fixture.ts', import.meta.url))
const id = createLogIds()

const entry = (change: Partial<LogRecord> = {}): LogRecord => ({
  siteId: 1,
  atMs: Date.now(),
  id: id(),
  facet: 1,
  key: '',
  body: 'x',
  ...change,
})

for (const { dialect, skip } of dialects) {
  describe.skipIf(skip)(`log store on ${dialect}`, () => {
    let made: TestDatabase
    let folder: string
    let store: LogStore
    let url: string | undefined

    beforeEach(async () => {
      made = await testDatabase(dialect)
      url = made.connection.url
      folder = join(dirname(made.connection.file), 'logs')
      store = openLogStore({ url, folder })
    })
    afterEach(async () => {
      await store.close()
      await made.drop()
    })

    const query = (change: Partial<LogQuery> = {}): LogQuery => ({
      kind: 'server',
      siteId: 1,
      before: { atMs: Date.now() + DAY_MS, id: 0 },
      sinceMs: Date.now() - 8 * DAY_MS,
      limit: 200,
      ...change,
    })
    /** Returns the bodies of all entries, page by page. */
    const scroll = async (change: Partial<LogQuery>, between: () => Promise<void> = async () => {}) => {
      const bodies: string[] = []
      let before: LogPosition | undefined
      for (;;) {
        const page = await store.page(query({ ...change, ...(before && { before }) }))
        if (page.length === 0) return bodies
        bodies.push(...page.map(({ body }) => body))
        before = page.at(-1)
        await between()
      }
    }

    test('returns an empty page if nothing was ever written', async () => {
      expect(await store.page(query())).toEqual([])
      await store.maintain(Date.now())
    })

    test('returns entries as written, newest first, of one site and one kind', async () => {
      const now = Date.now()
      const [a, b, c] = [0, 1, 2].map((n) => entry({ atMs: now - n, key: '2001:db8::1', body: `{"ü":"${n}\\u0000"}` }))
      await store.append('server', [b, a, c] as LogRecord[])
      await store.append('server', [entry({ siteId: 2 })])
      await store.append('php', [entry({ body: 'php' })])
      expect(await store.page(query())).toEqual([a, b, c])
      expect(await store.page(query({ limit: 2 }))).toEqual([a, b])
      expect(await store.page(query({ before: b as LogRecord }))).toEqual([c])
      expect((await store.page(query({ kind: 'php' }))).map(({ body }) => body)).toEqual(['php'])
    })

    test('stores an entry once if it is written again', async () => {
      const batch = Array.from({ length: 50 }, () => entry())
      await store.append('server', batch)
      await store.append('server', [...batch, entry({ body: 'new' })])
      expect(await scroll({ limit: 7 })).toHaveLength(51)
    })

    test.runIf(dialect === 'postgres')('counts the same for a login that may not read entries back', async () => {
      const writer = openLogStore({ url, folder, mayReadBack: false })
      const batch = (siteId: number) => Array.from({ length: 50 }, (_, n) => entry({ siteId, body: 'ü'.repeat(n) }))
      for (const [siteId, by] of [
        [1, store],
        [2, writer],
      ] as const) {
        const entries = batch(siteId)
        await by.append('server', entries)
        await by.append('server', [...entries.slice(20), entry({ siteId, body: 'new' })])
        expect(await scroll({ siteId })).toHaveLength(51)
      }
      await writer.close()
      const { rows } = await sql<{ bytes: number }>`select bytes from log_shares order by site_id`.execute(
        made.database.read,
      )
      expect(rows).toHaveLength(2)
      expect(rows[1]).toEqual(rows[0])
    })

    test('filters in every combination like a check of each entry, page by page', async () => {
      const now = Date.now()
      const entries = Array.from({ length: 600 }, (_, n) =>
        entry({
          siteId: 1 + (n % 2),
          // Several entries have the same millisecond, over four days.
          atMs: now - Math.floor(n / 4) * Math.floor(DAY_MS / 40),
          facet: n % 7 === 0 ? 500 : n % 3,
          key: `10.0.0.${n % 5}`,
          body: String(n),
        }),
      )
      await store.append('server', entries)
      const expected = ({ siteId, facets, key }: Pick<LogQuery, 'siteId' | 'facets' | 'key'>) =>
        entries
          .filter((each) => each.siteId === siteId && (key === undefined || each.key === key))
          .filter((each) => !facets || facets.includes(each.facet))
          .sort((left, right) => right.atMs - left.atMs || right.id - left.id)
          .map(({ body }) => body)
      await fc.assert(
        fc.asyncProperty(
          fc.record({
            siteId: fc.constantFrom(1, 2, 3),
            facets: fc.option(fc.subarray([0, 1, 2, 500, 404]), { nil: undefined }),
            key: fc.option(fc.constantFrom('10.0.0.1', '10.0.0.4', '10.0.0.9'), { nil: undefined }),
            limit: fc.integer({ min: 5, max: 400 }),
          }),
          async (asked) => {
            expect(await scroll(asked)).toEqual(expected(asked))
          },
        ),
        { numRuns: 40 },
      )
    })

    test('returns each entry once in a scroll, while newer and older ones arrive', async () => {
      const now = Date.now()
      const first = Array.from({ length: 500 }, (_, n) => entry({ atMs: now - n * 10, body: `first ${n}` }))
      await store.append('server', first)
      let round = 0
      const seen = await scroll({ limit: 20, facets: [1] }, async () => {
        if (++round > 20) return
        const late = (n: number) => entry({ atMs: now - round * n - 3, body: `late ${round} ${n}` })
        await store.append('server', [entry({ atMs: now + round }), late(1), late(200), late(400)])
      })
      expect(new Set(seen).size).toBe(seen.length)
      expect(seen.filter((body) => body.startsWith('first'))).toEqual(first.map(({ body }) => body))
    })

    test('drops days as a whole when all of them is seven days old', async () => {
      const now = Math.floor(Date.now() / DAY_MS) * DAY_MS + DAY_MS / 2
      const ages = [0, 1, 6, 7]
      await store.append(
        'server',
        ages.map((age) => entry({ atMs: now - age * DAY_MS, body: `${age}` })),
      )
      await store.append('php', [entry({ atMs: now - 6 * DAY_MS, body: 'php' })])
      expect(await scroll({ limit: 10 })).toEqual(['0', '1', '6', '7'])
      await store.maintain(now)
      expect(await scroll({ limit: 10 })).toEqual(['0', '1', '6', '7'])
      await store.maintain(now + DAY_MS)
      expect(await scroll({ limit: 10 })).toEqual(['0', '1', '6'])
      await store.maintain(now + 7 * DAY_MS)
      expect(await scroll({ limit: 10 })).toEqual(['0'])
      expect(await scroll({ limit: 10, kind: 'php' })).toEqual([])
      if (dialect === 'sqlite') expect(readdirSync(folder).filter((name) => name.endsWith('.db'))).toHaveLength(1)
    })

    test('leaves out entries from long ago and far ahead, and creates no day for them', async () => {
      await store.append('server', [
        entry({ atMs: 0 }),
        entry({ atMs: Date.now() + 30 * DAY_MS }),
        entry({ body: 'now' }),
      ])
      expect(await scroll({ limit: 10, sinceMs: 0 })).toEqual(['now'])
    })

    describe('with a total of 3.2 MB', () => {
      const KB = 1000
      const text = 'x'.repeat(KB - 200)
      beforeEach(async () => {
        await store.close()
        // The limits are 400 kB for a day of one kind, and 100 kB of it for one site.
        store = openLogStore({ url, folder, mostBytes: 3200 * KB })
      })
      const flood = async (siteId: number, count: number) => {
        for (let n = 0; n < count; n += 50)
          await store.append(
            'server',
            Array.from({ length: 50 }, () => entry({ siteId, body: text })),
          )
      }

      test('limits a flooding site to its share, reports dropped entries in one line, and drops no others', async () => {
        await flood(1, 1000)
        await flood(2, 50)
        const stored = await store.page(query({ limit: 1000 }))
        const notices = stored.flatMap((record) => droppedIn(record) ?? [])
        expect(stored.length).toBeGreaterThan(99)
        expect(stored.length).toBeLessThan(130)
        expect(notices).toEqual([1000 - (stored.length - 1)])
        expect(await store.page(query({ facets: [1], limit: 1000 }))).toHaveLength(stored.length - 1)
        expect(await store.page(query({ siteId: 2, limit: 1000 }))).toHaveLength(50)
      })

      test('does not count entries that are written again', async () => {
        const batch = Array.from({ length: 50 }, () => entry({ body: text }))
        for (let n = 0; n < 10; n++) await store.append('server', batch)
        expect(await store.page(query({ limit: 1000 }))).toHaveLength(50)
        await flood(1, 50)
        expect(await store.page(query({ limit: 1000 }))).toHaveLength(100)
      })

      test('limits many sites together, and a quiet one can still write', async () => {
        for (let siteId = 1; siteId <= 20; siteId++) await flood(siteId, 50)
        await store.close()
        store = openLogStore({ url, folder, mostBytes: 3200 * KB })
        for (let siteId = 1; siteId <= 20; siteId++) await flood(siteId, 100)
        await store.append('server', [entry({ siteId: 99 })])
        let count = 0
        for (let siteId = 1; siteId <= 20; siteId++)
          count += (await store.page(query({ siteId, facets: [1], limit: 1000 }))).length
        expect(count).toBeLessThan(20 * 50 * 1.3)
        expect(await store.page(query({ siteId: 99 }))).toHaveLength(1)
      })

      test('drops the oldest days if all are too much, and keeps today', async () => {
        const now = Date.now()
        await store.close()
        const roomy = openLogStore({ url, folder })
        for (let age = 5; age >= 0; age--) {
          const day = Array.from({ length: 900 }, () =>
            entry({ atMs: now - age * DAY_MS, body: text, facet: 10 + age }),
          )
          await roomy.append('server', day)
        }
        await roomy.close()
        store = openLogStore({ url, folder, mostBytes: 3200 * KB })
        await store.maintain(now)
        const facets = new Set((await store.page(query({ limit: 10_000 }))).map(({ facet }) => facet))
        expect(facets.has(10)).toBe(true)
        expect(facets.has(15)).toBe(false)
        expect(facets.size).toBeGreaterThan(1)
      })
    })

    const write = (siteId: number, count: number) => {
      const child = spawn(process.execPath, [fixture, JSON.stringify({ url, folder, siteId, count })], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      let said = ''
      child.stdout.on('data', (text) => {
        said += text
      })
      return { child, exited: once(child, 'exit'), said: () => said }
    }

    test('loses and duplicates nothing while three processes write and others read', async () => {
      const writers = [1, 1, 2].map((siteId) => write(siteId, 1500))
      let done = false
      const ended = Promise.all(writers.map(({ exited }) => exited)).then(() => {
        done = true
      })
      let most = 0
      while (!done) {
        const { length } = await scroll({ limit: 400 })
        expect(length).toBeGreaterThanOrEqual(most)
        most = length
        await breathe()
      }
      await ended
      const numbers = (await scroll({ limit: 500 })).map(Number).sort((a, b) => a - b)
      expect(numbers).toEqual(Array.from({ length: 3000 }, (_, n) => Math.floor(n / 2) + 1))
      expect(await scroll({ limit: 500, siteId: 2 })).toHaveLength(1500)
    })

    test('loses at most the last second of a killed writer', async () => {
      const { child, exited, said } = write(1, 1_000_000)
      while (said().split('\n').length < 1500) await breathe()
      child.kill('SIGKILL')
      const killedAt = Date.now()
      await exited
      const stored = new Set(await scroll({ limit: 500 }))
      const lines = said().split('\n').slice(0, -1)
      const lost = lines.map((line) => line.split(' ')).filter(([number]) => !stored.has(number as string))
      expect(stored.size).toBeGreaterThan(0)
      expect(lost.filter(([, atMs]) => Number(atMs) < killedAt - 1000)).toEqual([])
      // The store continues normally.
      await store.append('server', [entry({ siteId: 9, body: 'after' })])
      expect(await scroll({ siteId: 9 })).toEqual(['after'])
    })
  })
}

test('has no thread and no folder in a process that never uses it', async () => {
  const made = await testDatabase('sqlite')
  const folder = join(dirname(made.connection.file), 'logs')
  const store = openLogStore({ folder })
  await store.close()
  expect(existsSync(folder)).toBe(false)
  await made.drop()
})
