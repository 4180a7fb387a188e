import { type Compilable, type CompiledQuery, sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { dialects, type TestDatabase, testDatabase } from '../../../test/support/database.ts'
import { until } from '../../platform/operations/harness.ts'
import { makeAccount } from '../account/account.ts'
import {
  type EntryFilter,
  entriesCount,
  entriesPage,
  forgetEntries,
  type LogOf,
  pageOfEntries,
  valuesOfLog,
} from './activity.store.ts'

const ROWS = 100_000
const AT_ONCE = 10_000
const ACCOUNTS = 20
const SITES = 1000

const page = { perPage: 20, offset: 0 }
/** Account 1 has half of all entries. Account 2 has no recent ones. */
const logs: [string, LogOf][] = [
  ['account', { accountId: 1 }],
  ['account', { accountId: 2 }],
  ['site', { siteId: 7 }],
]
const values: [EntryFilter['column'], string, string][] = [
  ['action', 'site.updated', 'nothing.such'],
  ['actor_email', 'person5@example.com', 'nobody@example.com'],
  ['ip_address', '192.0.2.11', '198.51.100.1'],
  ['source', 'api.v1', 'ui'],
]

for (const { dialect, skip } of dialects) {
  describe.skipIf(skip)(`the plans of log queries on ${dialect}, ${ROWS} entries`, () => {
    let made: TestDatabase
    beforeAll(async () => {
      made = await testDatabase(dialect)
      await fill(made)
    })
    afterAll(() => made?.drop())

    /** Returns the plan of the database, one step a line. */
    const plan = (query: Compilable): Promise<string[]> => planOf(query.compile())

    async function planOf(compiled: CompiledQuery): Promise<string[]> {
      const explain = dialect === 'sqlite' ? 'explain query plan' : 'explain (costs off)'
      const { rows } = await made.database.read.executeQuery<Record<string, string>>({
        ...compiled,
        sql: `${explain} ${compiled.sql}`,
      })
      return rows.map((row) => (row.detail ?? row['QUERY PLAN']) as string)
    }

    /** Checks that the log is read by its own index, and not by a scan of the table or its primary key. */
    function expectIndexed(steps: string[], index: RegExp) {
      const text = steps.join('\n')
      expect(text).toMatch(index)
      expect(text).not.toMatch(/Seq Scan|^SCAN activity/m)
      const byKey = steps.findIndex((step) => step.includes('activity_pkey'))
      // Single entries, those of the page.
      if (byKey >= 0) expect(steps[byKey + 1], text).toMatch(/Index Cond: \(id = /)
    }

    /** Checks, in addition, that the index contains the filtered column. */
    function expectIndexOnly(steps: string[], index: RegExp) {
      expectIndexed(steps, index)
      const found = steps.find((step) => index.test(step))
      expect(found).toMatch(dialect === 'sqlite' ? /^SEARCH activity USING COVERING INDEX/ : /Index Only Scan/)
    }

    const expectNoSort = (steps: string[]) => expect(steps.join('\n')).not.toMatch(/Sort Key: activity|USE TEMP B-TREE/)

    for (const [name, log] of logs) {
      const whose = JSON.stringify(log)
      const queries = (filters: EntryFilter[]) => [
        entriesPage(made.database.read, log, filters, page),
        entriesCount(made.database.read, log, filters),
      ]

      test(`${whose}: without a filter`, async () => {
        const [entries, count] = (await Promise.all(queries([]).map(plan))) as [string[], string[]]
        expectIndexOnly(entries, new RegExp(`activity_${name}\\b`))
        expectNoSort(entries)
        expectIndexOnly(count, new RegExp(`activity_${name}`))
      })

      for (const [column, often, never] of values) {
        test(`${whose}: ${column} equals uses its own index in its order`, async () => {
          for (const value of [often, never])
            for (const query of queries([{ column, operator: 'equals', value }])) {
              const steps = await plan(query)
              expectIndexOnly(steps, new RegExp(`activity_${name}_${column}\\b`))
              expectNoSort(steps)
            }
        })

        test(`${whose}: ${column} contains walks an index of the log`, async () => {
          for (const value of [often, never])
            for (const query of queries([{ column, operator: 'contains', value }]))
              expectIndexOnly(await plan(query), new RegExp(`activity_${name}`))
          // PostgreSQL may sort if it expects a handful. In a long log with many matches it must not.
          const [entries] = queries([{ column, operator: 'contains', value: often }])
          if (dialect === 'sqlite' || name === 'account') expectNoSort(await plan(entries as Compilable))
        })
      }

      for (const [column] of values)
        test(`${whose}: finds its different values of ${column} with one step down an index each`, async () => {
          const steps = await planOf(valuesOfLog(log, column).compile(made.database.read))
          const found = steps.filter((step) => step.includes('activity_'))
          // PostgreSQL does not show the second step, which is the same.
          expect(found).toHaveLength(dialect === 'sqlite' ? 2 : 1)
          for (const step of found) expect(step).toMatch(new RegExp(`activity_${name}_${column}\\b`))
          expect(steps.join('\n')).not.toMatch(/Seq Scan|^SCAN activity/m)
        })

      test(`${whose}: finds one of some addresses by the index of addresses`, async () => {
        const filter = { column: 'ip_address', operator: 'one of', values: ['192.0.2.11', '192.0.2.12'] } as const
        const { read } = made.database
        expectIndexOnly(await plan(entriesCount(read, log, [filter])), new RegExp(`activity_${name}_ip_address\\b`))
        expectIndexOnly(
          await plan(entriesPage(read, log, [filter], page, true)),
          new RegExp(`activity_${name}_ip_address\\b`),
        )
      })

      for (const [column, value] of [
        ['ip_address', '.1'],
        ['ip_address', '2.0.2.19'],
        ['ip_address', '_'],
        ['actor_email', 'PERSON5'],
        ['actor_email', 'nobody'],
        ['action', 'site.'],
        ['source', 'sys'],
      ] as const)
        test(`${whose}: finds the same entries whose ${column} contains ${value} as reading all of them`, async () => {
          await expectSame(log, { column, operator: 'contains', value })
        })

      test(`${whose}: several filters`, async () => {
        const filters = values.map(([column, often], number): EntryFilter => {
          return { column, operator: number % 2 ? 'contains' : 'equals', value: often }
        })
        for (const query of queries(filters)) expectIndexed(await plan(query), new RegExp(`activity_${name}`))
      })
    }

    test('a log with more different addresses than are searched first returns all that contain a part', async () => {
      const log = { accountId: 4 }
      await made.database.transaction((tx) =>
        sql`insert into activity (account_id, action, description, message, source, ip_address, user_agent, created_at)
          select 4, 'site.updated', '', '', 'ui', '198.51.' || (id / 250) || '.' || (id % 250), '', 100000 from activity
          where id <= 1500`.execute(tx),
      )
      await expectSame(log, { column: 'ip_address', operator: 'contains', value: '198.51.5' })
      await expectSame(log, { column: 'ip_address', operator: 'contains', value: '.249' })
    })

    /** Checks that pages and their count match a look at each entry. */
    async function expectSame(log: LogOf, filter: EntryFilter) {
      const { read } = made.database
      const { count } = await entriesCount(read, log, [filter]).executeTakeFirstOrThrow()
      for (const offset of [0, 30]) {
        const { entries, total } = await pageOfEntries(read, log, [filter], { perPage: 20, offset })
        const rows = await entriesPage(read, log, [filter], { perPage: 20, offset }).execute()
        expect([entries.map(({ id }) => id), total]).toEqual([rows.map(({ id }) => id), Number(count)])
      }
    }

    test('finds the oldest entries by their index', async () => {
      const query = made.database.read.selectFrom('activity').select('id').where('created_at', '<', 500)
      expect((await plan(query.orderBy('created_at').limit(100))).join('\n')).toMatch(/activity_created/)
      const ofSites = query.where('site_id', 'is not', null).orderBy('created_at').limit(100)
      expect((await plan(ofSites)).join('\n')).toMatch(/activity_(site_)?created/)
      const deleted = await made.database.transaction((tx) => forgetEntries(tx, 500, 100))
      expect(deleted).toBe(100)
    })
  })
}

async function fill({ database }: TestDatabase): Promise<void> {
  await database.transaction(async (tx) => {
    for (let number = 1; number <= ACCOUNTS; number++)
      await makeAccount(tx, { email: `a${number}@example.com`, plan: 'Personal', now: 0 })
  })
  // A statement may take 30 s, which all rows at once need on a busy machine.
  for (let from = 0; from < ROWS; from += AT_ONCE) await fillRows(database, from + 1, from + AT_ONCE)
  if (database.dialect === 'postgres') await vacuum(database)
}

const fillRows = (database: TestDatabase['database'], first: number, last: number) =>
  database.transaction(async (tx) => {
    const numbers =
      database.dialect === 'postgres'
        ? sql`select value from generate_series(${first}::int, ${last}::int) as numbers(value)`
        : sql`with recursive numbers(value) as (select ${first} union all select value + 1 from numbers where value < ${last})
            select value from numbers`
    await sql`
      insert into activity (account_id, site_id, action, description, message, source, actor_email, ip_address, user_agent,
        created_at)
      select
        case when value % 2 = 0 then 1 when value > ${sql.lit(ROWS / 2)} then 3 else value % ${sql.lit(ACCOUNTS)} + 1 end,
        value % ${sql.lit(SITES)},
        case value % 5 when 0 then 'site.created' when 1 then 'note.created' else 'site.updated' end,
        'Settings of a site were changed', 'Changed the display name from one thing to another',
        case when value % 7 = 0 then 'systems' else 'api.v1' end,
        'person' || (value % 50) || '@example.com', '192.0.2.' || (value % 200),
        'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36',
        value
      from (${numbers}) as numbers`.execute(tx)
  })

/**
 * Does what autovacuum does on a server: statistics for the planner, and pages that index scans need not check. It is
 * repeated, because a page that another transaction may still read differently is left out, and autovacuum's own
 * transactions count.
 */
async function vacuum({ read }: TestDatabase['database']): Promise<void> {
  await until(async () => {
    await sql`vacuum analyze activity`.execute(read)
    const { rows } = await sql<{ seen: number; pages: number }>`
      select relallvisible as seen, relpages as pages from pg_class where oid = 'activity'::regclass`.execute(read)
    return rows[0] && rows[0].seen >= rows[0].pages
  })
}
