import { Readable } from 'node:stream'
import { sql } from 'kysely'
import { afterEach, describe, expect, test } from 'vitest'
import { postgresUrl, type TestDatabase, testDatabase } from '../../../../test/support/database.ts'
import type { Database, DialectName, Tx } from '../database.ts'
import { lastGivenId } from '../sequences.ts'
import { compareRows, copyRows } from './copy-rows.ts'
import { databaseRows } from './database-rows.ts'
import { fillDatabase } from './fill-database.ts'
import { RowsUnreadable, readRowText, textOfRows } from './row-stream.ts'
import { inOrderOfReference, rowOfText, rowText, type Table } from './table-rows.ts'

const made: TestDatabase[] = []
afterEach(async () => {
  for (const each of made.splice(0)) await each.drop()
})

async function database(dialect: DialectName, migrations?: Parameters<typeof testDatabase>[1]): Promise<Database> {
  const one = await testDatabase(dialect, migrations)
  made.push(one)
  return one.database
}

const oddTexts = [
  '',
  ' ',
  "it's",
  '"',
  '\\',
  '\\x00',
  '{a,b}',
  'NULL',
  'é',
  'e\u0301',
  'Z',
  'a',
  '_',
  '😀',
  '\u{ffff}',
  '\n',
]
const largest = 2n ** 63n - 1n

/**
 * Fills a table that has every type, whose text sorts differently in each collation, and more rows than fit into one
 * batch.
 */
async function fill(tx: Tx): Promise<void> {
  for (const [place, text] of oddTexts.entries())
    await sql`insert into odd values (${text}, ${place % 2 === 0 ? largest : -largest}, ${Buffer.from([0, 255, place])}, null)`.execute(
      tx,
    )
  for (let number = 1; number <= 1203; number++)
    await sql`insert into schedules values (${`s${number}`}, ${number})`.execute(tx)
  await sql`insert into accounts (email, name, organization, phone_number, plan, default_php_version, created_at)
    values ('me@example.com', 'Me', '', '', 'Business', '8.3', 1)`.execute(tx)
}

async function oddTable({ dialect, transaction }: Database): Promise<void> {
  const blob = sql.raw(dialect === 'postgres' ? 'bytea' : 'blob')
  await transaction(async (tx) => {
    await sql`create table odd (t text primary key, n bigint not null, b ${blob} not null, spare text)`.execute(tx)
  })
}

async function filled(dialect: DialectName): Promise<Database> {
  const one = await database(dialect)
  await oddTable(one)
  await one.transaction(fill)
  return one
}

const ways = (['sqlite', 'postgres'] as const).flatMap((from) =>
  (['sqlite', 'postgres'] as const).map((to) => ({ from, to })),
)

describe.each(ways)('from $from to $to', ({ from, to }) => {
  const skip = !postgresUrl && (from === 'postgres' || to === 'postgres')

  /** Copies inside one transaction on each side. */
  async function between<Result>(one: Database, other: Database, work: (a: Tx, b: Tx) => Promise<Result>) {
    return one.transaction((a) => other.transaction((b) => work(a, b)))
  }

  test.skipIf(skip)('copies every row of every table, and reuses no id', async () => {
    const [one, other] = [await filled(from), await database(to)]
    await oddTable(other)
    await one.transaction(async (tx) => {
      await sql`delete from accounts`.execute(tx)
    })
    const copied = await between(one, other, (a, b) => copyRows(databaseRows(a), databaseRows(b)))
    expect(await between(one, other, (a, b) => compareRows(databaseRows(a), databaseRows(b)))).toEqual(copied)
    expect(copied.rows).toBeGreaterThanOrEqual(oddTexts.length + 1203)
    const { rows } = await sql<{
      n: number
    }>`select count(*) as n from odd where n in (9223372036854775807, -9223372036854775807)`.execute(other.read)
    expect(rows).toEqual([{ n: oddTexts.length }])
    expect(await lastGivenId(other.read, 'accounts')).toBe(1)
  })

  test.skipIf(skip || from === 'postgres').each([
    ['another value', sql`update odd set n = n - 1 where t = 'Z'`, 'odd differs at the row t = Z'],
    ['a text of the same letters', sql`update odd set t = '\\x0' where t = '\\x00'`, 'odd differs at the row'],
    ['nothing instead of an empty text', sql`update odd set spare = ''`, 'odd differs at the row'],
    ['a row too few', sql`delete from schedules where name = 's1000'`, 'schedules differs at the row name = s1000'],
    ['a row too many', sql`insert into schedules values ('zz', 1)`, 'schedules differs at the row name = zz'],
    ['a column too few', sql`alter table odd drop column spare`, 'not the same'],
    ['a table too many', sql`create table more (id bigint primary key)`, 'not the same'],
  ])('finds %s', async (_what, change, words) => {
    const [one, other] = [await filled(from), await database(to)]
    await oddTable(other)
    await between(one, other, (a, b) => copyRows(databaseRows(a), databaseRows(b)))
    await other.transaction(async (tx) => {
      await change.execute(tx)
    })
    await expect(between(one, other, (a, b) => compareRows(databaseRows(a), databaseRows(b)))).rejects.toThrow(words)
  })

  test.skipIf(skip)('leaves the database empty if a copy fails', async () => {
    const [one, other] = [await filled(from), await database(to, {})]
    // The target does not have the table `odd`.
    const { migrations } = await import('../../../../migrations/index.ts')
    await one.transaction(async (a) => {
      await expect(fillDatabase(other, () => databaseRows(a), { migrations })).rejects.toThrow('not the same')
    })
    expect(await other.read.introspection.getTables({ withInternalKyselyTables: true })).toEqual([])
  })
})

describe.each(['sqlite', 'postgres'] as const)('as text, from %s', (from) => {
  const skip = from === 'postgres' && !postgresUrl

  test.skipIf(skip).each(['sqlite', 'postgres'] as const)('returns every row, in %s', async (to) => {
    if (to === 'postgres' && !postgresUrl) return
    const [one, other] = [await filled(from), await database(to)]
    await oddTable(other)
    const text = await one.atOneMoment((tx) => Array.fromAsync(textOfRows(databaseRows(tx), { mine: 1 })))
    // Pieces may be cut anywhere, as when they come from elsewhere.
    const whole = Buffer.concat(text)
    const pieces = async function* () {
      for (let at = 0; at < whole.length; at += 777) yield whole.subarray(at, at + 777)
    }
    const { head, rows } = await readRowText(pieces())
    expect(head).toEqual({ mine: 1 })
    await other.transaction((tx) => copyRows(rows, databaseRows(tx)))
    await one.transaction((a) => other.transaction((b) => compareRows(databaseRows(a), databaseRows(b))))
  })

  test.skipIf(skip)('is a snapshot, whatever is written in the meantime, and blocks no one', async () => {
    const one = await filled(from)
    const text = await one.atOneMoment(async (tx) => {
      const lines = textOfRows(databaseRows(tx), {})
      const first = (await lines.next()).value as Buffer
      await one.transaction((other) => other.insertInto('schedules').values({ name: 'later', last_slot: 1 }).execute())
      return Buffer.concat([first, ...(await Array.fromAsync(lines))]).toString()
    })
    expect(text).toContain('"s1203"')
    expect(text).not.toContain('"later"')
  })

  test.skipIf(skip)('can only be read, not changed, by its creator', async () => {
    const one = await filled(from)
    await expect(one.atOneMoment((tx) => tx.deleteFrom('schedules').execute())).rejects.toThrow(/read-?only/)
  })
})

test('never takes a truncated text for a complete one', async () => {
  const one = await filled('sqlite')
  const whole = Buffer.concat(await one.atOneMoment((tx) => Array.fromAsync(textOfRows(databaseRows(tx), {}))))
  const ends = [...whole.entries()].filter(([, byte]) => byte === 10).map(([at]) => at + 1)
  expect(ends.length).toBeGreaterThan(1000)
  for (const end of [0, 5, ...ends.filter((_, place) => place % 97 === 0), ends.at(-2) as number, whole.length - 1]) {
    const other = await database('sqlite')
    await oddTable(other)
    const read = async () => {
      const { rows } = await readRowText(Readable.from([whole.subarray(0, end)]))
      await other.transaction((tx) => copyRows(rows, databaseRows(tx)))
    }
    await expect(read()).rejects.toThrow(RowsUnreadable)
    const { n } = await other.read
      .selectFrom('schedules')
      .select(({ fn }) => fn.countAll<number>().as('n'))
      .executeTakeFirstOrThrow()
    expect(n).toBe(0)
  }
})

test('reports a value that is not an integer where one belongs, and does not convert it', async () => {
  const one = await filled('sqlite')
  await one.transaction(async (tx) => {
    await sql`update schedules set last_slot = 'soon' where name = 's1'`.execute(tx)
  })
  const other = await database('sqlite')
  await oddTable(other)
  await expect(
    one.transaction((a) => other.transaction((b) => copyRows(databaseRows(a), databaseRows(b)))),
  ).rejects.toThrow('The table schedules has "soon" where an integer belongs')
})

test('describes the tables in the same way for both databases', async () => {
  if (!postgresUrl) return
  const of = async (dialect: DialectName) => (await database(dialect)).transaction((tx) => databaseRows(tx).tables())
  const [sqlite, postgres] = [await of('sqlite'), await of('postgres')]
  const sorted = (tables: readonly Table[]) =>
    tables.map(({ refersTo, ...rest }) => ({ ...rest, refersTo: refersTo.toSorted() }))
  expect(sorted(sqlite)).toEqual(sorted(postgres))
  expect(sqlite.length).toBeGreaterThan(25)
  expect(sqlite.every(({ key }) => key.length > 0)).toBe(true)
})

test('restores a row from its text', () => {
  const row = [largest, -1n, 'text', '{"i":"1"}', null, Buffer.from([0, 1, 255])]
  expect(rowOfText(rowText(row))).toEqual(row)
  expect(rowText(['1'])).not.toBe(rowText([1n]))
  for (const wrong of ['{}', '[1]', '[{"i":1}]', '[true]', '[{"i":"x"}]', 'no'])
    expect(() => rowOfText(wrong)).toThrow()
})

test('puts a table after those that it refers to, and refuses a circle', () => {
  const table = (name: string, ...refersTo: string[]): Table => ({
    name,
    columns: [],
    key: [],
    isNumbered: false,
    refersTo,
  })
  const ordered = inOrderOfReference([table('c', 'b', 'c'), table('a'), table('b', 'a')])
  expect(ordered.map(({ name }) => name)).toEqual(['a', 'b', 'c'])
  expect(() => inOrderOfReference([table('x', 'y'), table('y', 'x')])).toThrow('in a circle: x, y')
})
