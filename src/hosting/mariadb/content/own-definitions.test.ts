/** Tables with features that only MariaDB has. A site with one is backed up whole and restored unchanged. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { hasMariaDb } from '../../../../test/support/mariadb.ts'
import { type OwnMariaDb, startOwnMariaDb } from '../../../../test/support/own-mariadb.ts'
import type { ServerLogin } from '../../php/wp-config.ts'
import { type DatabaseContent, DumpUnreadable, type SitePlace } from '../../site-database/database-content.ts'
import { rowsOf } from '../server/connect.ts'

describe.skipIf(!hasMariaDb)('a table that only MariaDB has', () => {
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

  const asSite = (...statements: string[]) => maria.asSite(login, ...statements)
  async function taken(): Promise<{ text: string; warning: string | undefined }> {
    const snapshot = await content.snapshot(directory)
    try {
      return { text: String(Buffer.concat(await Array.fromAsync(snapshot.dump()))), warning: snapshot.warning }
    } finally {
      await snapshot.close()
    }
  }
  async function* pieces(text: string): AsyncGenerator<Uint8Array> {
    yield Buffer.from(text)
  }
  async function restore(text: string) {
    const loaded = await content.load(directory, pieces(text))
    await content.switch(directory)
    await content.cleanUp(directory)
    return loaded
  }

  test.each([
    [
      'column id: uuid',
      [
        'create table t (id uuid primary key default uuid(), v int)',
        "insert into t values ('123e4567-e89b-12d3-a456-426655440000', 1)",
      ],
    ],
    [
      'column a: inet6, column b: inet4',
      ['create table t (a inet6, b inet4)', "insert into t values ('::1', '1.2.3.4')"],
    ],
    [
      'column v: COMPRESSED, column w: COMPRESSED',
      [
        "create table t (id int primary key, v longtext compressed, w varbinary(100) compressed not null default 'x')",
        "insert into t values (1, repeat('a', 1000), 'y')",
      ],
    ],
    [
      'column p: PERIOD, column p: WITHOUT OVERLAPS',
      [
        'create table t (id int, a date, b date, period for p (a, b), unique key k (id, p without overlaps))',
        "insert into t values (1, '2026-01-01', '2026-02-01')",
      ],
    ],
    [
      'column v: INVISIBLE',
      ['create table t (id int primary key, v int invisible default 5)', 'insert into t (id, v) values (1, 7)'],
    ],
    ['KEY k IGNORED', ['create table t (id int primary key, v int, key k (v) ignored)', 'insert into t values (1, 2)']],
    [
      'PARTITION',
      [
        'create table t (id int primary key, v int) partition by range (id) (partition a values less than (10), partition b values less than maxvalue)',
        'insert into t values (1, 2), (20, 3)',
      ],
    ],
    ['PAGE_COMPRESSED', ['create table t (id int primary key) page_compressed=1', 'insert into t values (1)']],
    [
      'SYSTEM VERSIONING). Not in the backup: t (earlier versions of its rows',
      [
        'create table t (id int primary key, v int) with system versioning',
        'insert into t values (1, 2)',
        'update t set v = 5',
      ],
    ],
    [
      'column rs: ROW START, column re: ROW END, column SYSTEM_TIME: PERIOD, and 1 more thing',
      [
        'create table t (id int primary key, v int, rs timestamp(6) generated always as row start, re timestamp(6) generated always as row end, period for system_time (rs, re)) with system versioning',
        'insert into t (id, v) values (1, 2)',
      ],
    ],
    [
      'column ünï: uuid',
      [
        "create table t (`ünï` uuid comment 'it''s ü\\\\ \"x\"', e enum('it''s','ü') default 'ü', n int check (n > 5 and n in (6,7)), d datetime(3) default current_timestamp(3) on update current_timestamp(3), b bit(4) default b'101', x varchar(10) default concat('a', 'b'), key (`ünï`)) comment='ä;''`'",
        "insert into t (`ünï`, e, n) values (uuid(), 'ü', 6)",
      ],
    ],
  ])('%s', async (named, statements) => {
    await asSite(...statements)
    const definition = await asSite('show create table t')
    const { text, warning } = await taken()
    expect(warning).toContain(`Only MariaDB can restore all of t (${named})`)
    expect(await content.tryOut(directory, pieces(text))).toBeUndefined()
    expect(await restore(text)).toMatchObject({ tables: 1 })
    expect(await asSite('show create table t')).toEqual(definition)
    expect((await taken()).text).toBe(text)
  })

  test('continues a sequence where it stopped', async () => {
    await asSite('create sequence s start with 5 cache 10', 'select nextval(s)')
    await restore((await taken()).text)
    expect(Number((await asSite('select nextval(s)'))[0]?.[0])).toBeGreaterThan(5)
    expect(
      (
        await asSite(
          "select table_type from information_schema.tables where table_name = 's' and table_schema = database()",
        )
      ).flat(),
    ).toEqual(['SEQUENCE'])
  })

  test('does not fail a backup over a default that uses a sequence, and names it', async () => {
    await asSite(
      'create sequence s',
      'create table t (id int primary key default nextval(s), v int)',
      'insert into t (v) values (1), (2)',
    )
    const { text, warning } = await taken()
    expect(warning).toContain('Not in the backup: t (column id: DEFAULT of a sequence)')
    await restore(text)
    expect(await asSite('select v from t order by v')).toEqual([['1'], ['2']])
  })

  test('loads an AUTO_INCREMENT column that is second in its index, by adding an index for InnoDB', async () => {
    await restore(
      'CREATE TABLE `t` (`a` int NOT NULL, `n` int NOT NULL AUTO_INCREMENT, PRIMARY KEY (`a`,`n`)) ENGINE=MyISAM;\nINSERT INTO `t` VALUES (1,1),(1,2),(2,1);\n-- Dump completed',
    )
    expect(await asSite('select count(*) from t')).toEqual([['3']])
    await asSite('insert into t (a) values (7)')
  })

  test('skips what this server does not support, with a warning, when the rest can be loaded', async () => {
    const loaded = await restore(
      'CREATE TABLE `t` (`a` int NOT NULL, `v` int SRID 0, PRIMARY KEY (`a`));\nINSERT INTO `t` VALUES (1, 2);\n-- Dump completed',
    )
    expect(loaded.warning).toContain('The database does not have all of t (column v: SRID')
    const unknown = 'CREATE TABLE `t` (`a` nonsense);\n-- Dump completed'
    await expect(content.load(directory, pieces(unknown))).rejects.toThrow(DumpUnreadable)
  })

  test('runs a table’s definition only as an account without access to other sites', async () => {
    const other = await maria.home(1000 + siteDirectories)
    const its = await maria.databases.create(other)
    const table = 'create table victim (id int primary key)'
    const connection = await maria.server.connect(its)
    await rowsOf(connection, table)
    connection.destroy()
    const text = `CREATE TABLE \`${its.database}\`.\`t\` (\`a\` uuid, \`n\` int, FOREIGN KEY (\`n\`) REFERENCES \`${its.database}\`.\`victim\` (\`id\`));\n-- Dump completed`
    await restore(text)
    expect((await asSite('show create table t'))[0]?.[1]).not.toContain(its.database)
    await maria.databases.drop(other)
  })
})
