/** Sites that try to break out on a server that they share. */
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Connection, createConnection } from 'mysql2/promise'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { hasMariaDb } from '../../../test/support/mariadb.ts'
import { type OwnMariaDb, startOwnMariaDb, testPrefix } from '../../../test/support/own-mariadb.ts'
import { noLog } from '../../platform/log/log.ts'
import type { ServerLogin } from '../php/wp-config.ts'
import type { SitePlace } from '../site-database/database-content.ts'
import { databaseNames, directoryOfName, inGrant, prefixOf } from './database-names.ts'
import { loginFile } from './on-mariadb.ts'
import { rowsOf } from './server/connect.ts'
import { SessionWatch } from './watch/site-watch.ts'

test('derives short names that belong to one site directory alone', () => {
  expect(prefixOf('0123456789abcdef')).toBe('stead_01234567_')
  expect(() => prefixOf("x' or")).toThrow('is not an identity')
  const names = databaseNames('stead_01234567_', { siteDirectory: '/data/sites/h9007199254740991' })
  expect(Math.max(...Object.values(names).map((name) => name.length))).toBeLessThanOrEqual(64)
  expect(() => databaseNames('stead_01234567_', { siteDirectory: "/data/sites/x'" })).toThrow('is not a site directory')
  expect(directoryOfName('stead_01234567_', 'stead_01234567_h7')).toBe(7)
  expect(directoryOfName('stead_01234567_', 'stead_01234567_h7_next')).toBeUndefined()
  expect(directoryOfName('stead_01234567_', 'stead_76543210_h7')).toBeUndefined()
  expect(inGrant('a_b%c')).toBe('`a\\_b\\%c`')
})

describe.skipIf(!hasMariaDb)('a site on a shared server', () => {
  const limits = { connections: 3, statementSeconds: 1 }
  let maria: OwnMariaDb
  let directory: SitePlace
  let login: ServerLogin
  let open: Connection[]
  const connect = async ({ user, password, database }: ServerLogin = login) => {
    const connection = await maria.server.connect({ user, password, database })
    open.push(connection)
    return connection
  }

  beforeAll(async () => {
    maria = await startOwnMariaDb(limits)
  })
  afterAll(() => maria?.stop())
  beforeEach(async () => {
    open = []
    directory = await maria.home(1)
    login = await maria.databases.create(directory)
  })
  afterEach(async () => {
    for (const connection of open) connection.destroy()
    await maria.databases.drop(directory)
  })

  test('has a database whose name no other grant matches, and sees no other database', async () => {
    const other = await maria.home(11)
    await maria.databases.create(other)
    // What the name would match if its `_` stood for any character.
    const like = login.database.replaceAll('_', 'x')
    await maria.ask(`create database ${like}`)
    await maria.ask(`create table ${like}.t (a int)`)
    const site = await connect()
    await site.query('create table t (a int)')
    expect(await rowsOf(site, 'show databases')).toEqual([['information_schema'], [login.database]])
    expect(
      await rowsOf(
        site,
        "select distinct table_schema from information_schema.tables where table_schema like 'stead%'",
      ),
    ).toEqual([[login.database]])
    for (const database of [like, 'mysql', `${testPrefix}h11`, `${login.database}_next`]) {
      await expect(site.query(`use ${database}`)).rejects.toThrow('Access denied')
      await expect(site.query(`create table ${database}.x (a int)`)).rejects.toThrow('denied')
    }
    await expect(site.query(`create database ${login.database}2`)).rejects.toThrow('Access denied')
    await expect(site.query(`select * from ${like}.t`)).rejects.toThrow('denied')
    await expect(site.query(`rename table t to ${like}.t2`)).rejects.toThrow('denied')
    await maria.ask(`drop database ${like}`)
    await maria.databases.drop(other)
  })

  test('sees only its own statements and connections', async () => {
    const other = await maria.home(12)
    const its = await connect(await maria.databases.create(other))
    const site = await connect()
    const users = (await rowsOf(site, 'show processlist')).map(([, user]) => user)
    expect(new Set(users)).toEqual(new Set([login.user]))
    const [others] = await maria.ask(`select id from information_schema.processlist where user = '${testPrefix}h12'`)
    await expect(site.query(`kill ${others?.[0]}`)).rejects.toThrow(/not owner|denied|permission/i)
    await site.query(`kill hard user ${testPrefix}h12`).catch(() => {})
    expect(await rowsOf(its, 'select 1')).toEqual([['1']])
    await maria.databases.drop(other)
  })

  test('cannot read or write files', async () => {
    const secret = join(maria.folder, 'secret')
    await writeFile(secret, 'secret')
    const site = await connect()
    await site.query('create table t (a text)')
    expect(await rowsOf(site, `select ifnull(load_file('${secret}'), 'nothing')`)).toEqual([['nothing']])
    await expect(site.query(`select 1 into outfile '${join(maria.folder, 'mariadb/files/x')}'`)).rejects.toThrow(
      'denied',
    )
    await expect(site.query(`load data infile '${secret}' into table t`)).rejects.toThrow('denied')
    await expect(site.query(`load data local infile '${secret}' into table t`)).rejects.toThrow(/not allowed|disabled/)
    await expect(
      site.query('create table u (a int) data directory = "/tmp"').then(() => rowsOf(site, 'show create table u')),
    ).resolves.not.toEqual(expect.arrayContaining([[expect.anything(), expect.stringContaining('DATA DIRECTORY')]]))
    expect(await readdir(join(maria.folder, 'mariadb/files'))).toEqual([])
    expect(await readFile(secret, 'utf8')).toBe('secret')
  })

  test.each([
    'create user x',
    "set password for root@localhost = password('x')",
    'grant all on *.* to current_user()',
    'set global max_connections = 1',
    'set global local_infile = 1',
    'set session enforce_storage_engine = null',
    'install soname "ha_connect"',
    'shutdown',
    'flush tables with read lock',
    'create function f returns string soname "x.so"',
    'create event e on schedule every 1 second do select 1',
    'create trigger a after insert on t for each row set @a = 1',
    'create view v as select 1',
    'create procedure p() select 1',
    'show master status',
    'select * from mysql.user',
    'purge binary logs to "x"',
  ])('cannot: %s', async (sql) => {
    const site = await connect()
    await site.query('create table t (a int)')
    await expect(site.query(sql)).rejects.toThrow(/denied|need|privilege|event scheduler is disabled/i)
  })

  test('has only tables that can be dumped at one moment in time', async () => {
    const site = await connect()
    await site.query("set session sql_mode = ''")
    for (const engine of ['MyISAM', 'MEMORY', 'Aria']) {
      await site.query(`create or replace table t (a int) engine = ${engine}`)
      expect(await rowsOf(site, "select engine from information_schema.tables where table_name = 't'")).toEqual([
        ['InnoDB'],
      ])
    }
  })

  test('is limited in connections, and others keep theirs', async () => {
    const other = await maria.home(13)
    const its = await maria.databases.create(other)
    for (let at = 0; at < limits.connections; at++) await connect()
    await expect(connect()).rejects.toThrow('max_user_connections')
    expect(await rowsOf(await connect(its), 'select 1')).toEqual([['1']])
    await maria.databases.drop(other)
  })

  test('has its statements ended when they take too long', async () => {
    // Connects as PHP does, because the host's own sessions have no limit.
    const site = await createConnection({
      ...login,
      host: undefined,
      socketPath: join(maria.folder, 'mariadb/run/socket'),
    })
    await expect(site.query('select sleep(600)')).rejects.toThrow('max_statement_time exceeded')
    site.destroy()
  })

  test('cannot escape the time limit by disabling it', async () => {
    const site = await connect()
    const watch = new SessionWatch({ server: maria.server, prefix: testPrefix, limits, log: noLog })
    const long = expect(site.query('set statement max_statement_time = 0 for select sleep(600)')).rejects.toThrow()
    await expect
      .poll(async () => {
        await watch.look()
        return watch.metrics().ended
      })
      .toBe(1)
    await long
    expect(await rowsOf(await connect(), 'select 1')).toEqual([['1']])
  })

  test('has each slow statement counted once', async () => {
    const watch = new SessionWatch({ server: maria.server, prefix: testPrefix, log: noLog })
    await watch.look()
    expect(watch.metrics()).toMatchObject({ isUp: true, databases: 1, slow: 0 })
    await (await connect()).query('select sleep(1.1)')
    await watch.look()
    await watch.look()
    expect([watch.slowOf(1), watch.slowOf(2), watch.metrics().slow]).toEqual([1, 0, 1])
  })

  test('is created again by the same call, with the same password', async () => {
    await (await connect()).query('create table t (a int)')
    expect(await maria.databases.create(directory)).toEqual(login)
    expect(await rowsOf(await connect(), 'show tables')).toEqual([['t']])
    expect((await stat(loginFile(directory.siteDirectory))).mode & 0o777).toBe(0o600)
    // As if killed between creating the account and granting its rights.
    await maria.ask(`revoke all privileges on ${inGrant(login.database)}.* from ${login.user}@localhost`)
    await maria.databases.create(directory)
    expect(await rowsOf(await connect(), 'show tables')).toEqual([['t']])
  })

  test('leaves nothing when it is dropped, even while connected, and can be dropped again', async () => {
    const site = await connect()
    await site.query('create table t (a int)')
    await site.query('lock tables t write')
    await maria.databases.worker(directory)
    await maria.databases.drop(directory)
    await expect(site.query('select 1')).rejects.toThrow()
    for (const sql of [
      `select schema_name from information_schema.schemata where schema_name like 'stead%'`,
      `select user from mysql.user where user like '${testPrefix.replaceAll('_', '\\_')}%'`,
      'select db from mysql.db',
    ])
      expect(await maria.ask(sql)).toEqual([])
    expect(await readdir(directory.siteDirectory)).toEqual([])
    await maria.databases.drop(directory)
  })

  test('has a unique password', async () => {
    const other = await maria.home(14)
    const its = await maria.databases.create(other)
    expect(its.password).not.toBe(login.password)
    await expect(connect({ ...login, password: its.password })).rejects.toThrow('Access denied')
    await maria.databases.drop(other)
    await maria.databases.drop(directory)
    expect((await maria.databases.create(directory)).password).not.toBe(login.password)
  })
})
