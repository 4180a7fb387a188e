/** Content that WordPress stores without strict modes. Its dump can be loaded again unchanged. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { hasMariaDb } from '../../../../test/support/mariadb.ts'
import { type OwnMariaDb, startOwnMariaDb } from '../../../../test/support/own-mariadb.ts'
import type { ServerLogin } from '../../php/wp-config.ts'
import { type DatabaseContent, DumpUnreadable, type SitePlace } from '../../site-database/database-content.ts'

describe.skipIf(!hasMariaDb)('content of a server without strict modes', () => {
  let maria: OwnMariaDb
  let content: DatabaseContent
  let directory: SitePlace
  let login: ServerLogin
  let siteDirectories = 0
  beforeAll(async () => {
    maria = await startOwnMariaDb()
    content = maria.content
  })
  afterAll(() => maria?.stop())
  beforeEach(async () => {
    directory = await maria.home(++siteDirectories)
    login = await maria.databases.create(directory)
  })

  /** Runs statements as WordPress does, without strict modes. */
  const asSite = (...statements: string[]) => maria.asSite(login, "SET SESSION sql_mode = ''", ...statements)
  async function dumped(): Promise<Buffer> {
    const snapshot = await content.snapshot(directory)
    try {
      return Buffer.concat(await Array.fromAsync(snapshot.dump()))
    } finally {
      await snapshot.close()
    }
  }
  async function load(text: string | Uint8Array): Promise<void> {
    await content.load(
      directory,
      (async function* () {
        yield Buffer.from(text)
      })(),
    )
    await content.switch(directory)
    await content.cleanUp(directory)
  }

  test.each([
    [
      'an ENUM and a SET with a value that is none of theirs',
      "create table t (id int primary key, e enum('a','b') not null, s set('x','y'))",
      "insert into t values (1, 'a', 'x'), (2, 'none', 'none'), (3, '', ''), (4, 'b', 'x,y')",
    ],
    [
      'a computed column that cuts its value',
      'create table t (id int primary key, long_text varchar(50), cut varchar(3) as (long_text) stored, number tinyint as (id * 100) stored, key (cut))',
      "insert into t (id, long_text) values (1, 'abcdef'), (9, 'ab')",
    ],
    [
      'a computed column whose expression the server warns about',
      "create table t (id int primary key, v varchar(50), n int as (cast(v as signed)) stored, j varchar(9) as (json_value(v, '$.a')) stored)",
      "insert into t (id, v) values (1, 'twelve'), (2, '12'), (3, '{\"a\": 5')",
    ],
    [
      'a unique key of long texts that begin alike',
      'create table t (id int primary key, v text, unique key whole (v))',
      "insert into t values (1, concat(repeat('x', 300), 'a')), (2, concat(repeat('x', 300), 'b'))",
    ],
    [
      'dates that no calendar has',
      'create table t (id int primary key, d date, t datetime)',
      "insert into t values (1, '0000-00-00', '2026-00-31 00:00:00')",
    ],
    [
      'rows that nothing refers to, and that a check refuses',
      'create table a (id int primary key)',
      'create table t (id int primary key, of int, foreign key (of) references a (id), check (id < 5))',
      'set foreign_key_checks = 0, check_constraint_checks = 0',
      'insert into t values (9, 9)',
    ],
    [
      'zero where numbers are counted',
      'create table t (id int auto_increment primary key, v int)',
      "set sql_mode = 'NO_AUTO_VALUE_ON_ZERO'",
      'insert into t values (0, 1), (5, 2)',
    ],
    [
      'more rows of an ENUM than a server warns about at once',
      "create table t (id int primary key, e enum('a') not null)",
      "insert into t select seq, '' from seq_1_to_66000",
    ],
  ])('%s', async (_name, ...statements) => {
    await asSite(...statements)
    const [rows, sum, text] = [
      await asSite('select * from t order by 1 limit 100'),
      await asSite('checksum table t'),
      await dumped(),
    ]
    const keys = (await asSite('show create table t'))[0]?.[1]?.match(/^ {2}\w* ?KEY.*$/gm)
    await load(text)
    expect(await asSite('select * from t order by 1 limit 100')).toEqual(rows)
    expect(await asSite('checksum table t')).toEqual(sum)
    expect((await asSite('show create table t'))[0]?.[1]?.match(/^ {2}\w* ?KEY.*$/gm)).toEqual(keys)
    expect(String(await dumped())).toBe(String(text))
  })

  test.each([
    [
      'a value that is none of an ENUM',
      "create table t (e enum('a'));",
      "insert into t values ('none');",
      /Data truncated for column 'e'/,
    ],
    [
      'another row than the one with an empty ENUM',
      "create table t (e enum('a'));",
      "insert into t values (''), ('none');",
      /Data truncated for column 'e' at row 2/,
    ],
    [
      'a text that is too long beside a computed column',
      'create table t (v varchar(3), c int as (1) stored);',
      "insert into t (v) values ('four');",
      /Data too long for column 'v'|Data truncated for column 'v'/,
    ],
    [
      'a number that is too large',
      'create table t (n tinyint);',
      'insert into t values (1), (300);',
      /Out of range value for column 'n' at row 2/,
    ],
    [
      'NULL where there may be none, beside a computed column',
      'create table t (n int not null, c int as (1) stored);',
      'insert into t (n) values (1), (null);',
      /'n' cannot be null/,
    ],
    [
      'a date that is none',
      'create table t (d date);',
      "insert into t values ('yesterday');",
      /for column .d. at row 1/,
    ],
  ])('rejects a value that would differ from the dump: %s', async (_name, table, rows, message) => {
    const fault = await load(`${table}\n${rows}\n-- Dump completed`).catch((error) => error)
    expect(fault).toBeInstanceOf(DumpUnreadable)
    expect(fault.message).toMatch(message)
  })
})
