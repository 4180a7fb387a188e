/** Sites that fill a disk through the server, on a separate disk that a test can fill. */
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Connection } from 'mysql2/promise'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { hasMariaDb } from '../../../../test/support/mariadb.ts'
import { testUid } from '../../../../test/support/site-directory.ts'
import { maySmallDisk, type SmallDisk, smallDisk } from '../../../../test/support/small-disk.ts'
import { FreeRoom } from '../../../platform/files/free-room.ts'
import { noLog } from '../../../platform/log/log.ts'
import type { ServerLogin } from '../../php/wp-config.ts'
import type { SitePlace } from '../../site-database/database-content.ts'
import { rowsOf } from '../server/connect.ts'
import { asAdministrator, type DatabaseServer } from '../server/database-server.ts'
import { startOwnServer } from '../server/own-server.ts'
import { SiteDatabases } from '../site-databases.ts'
import { DatabaseDiskWatch, type DatabaseDiskWatchOptions } from './database-disk-watch.ts'
import { levelOfDisk, levelOfSpace } from './database-quota.ts'

const MB = 1 << 20
const PREFIX = 'stead_0badcafe_'

describe('the rights of a site', () => {
  test('shrink as the site fills its quota, and return slightly below it', () => {
    const level = (usedMb: number, now: 'all' | 'reduced' | 'least') =>
      levelOfSpace({ usedBytes: usedMb * MB, quotaBytes: 200 * MB }, now)
    expect([200, 201, 232, 233].map((used) => level(used, 'all'))).toEqual(['all', 'reduced', 'reduced', 'least'])
    expect([233, 220, 200, 191, 190].map((used) => level(used, 'least'))).toEqual([
      ...['least', 'least', 'reduced', 'reduced', 'all'],
    ])
    expect(levelOfSpace({ usedBytes: 13 * MB, quotaBytes: 10 * MB }, 'all')).toBe('least')
  })

  test('shrink as the host’s disk fills up, and return slightly above the limit', () => {
    const room = new FreeRoom('/', 100 * MB)
    const level = (freeMb: number, now: 'all' | 'reduced' | 'least') =>
      levelOfDisk((bytes) => room.stateAt(bytes), freeMb * MB, now)
    expect([200, 199, 149, 1].map((free) => level(free, 'all'))).toEqual(['all', 'reduced', 'least', 'least'])
    expect([149, 160, 170, 210, 221].map((free) => level(free, 'least'))).toEqual([
      ...['least', 'least', 'reduced', 'reduced', 'all'],
    ])
  })
})

describe.skipIf(!hasMariaDb || !maySmallDisk)('on a small disk', { timeout: 300_000 }, () => {
  let disk: SmallDisk
  let room: FreeRoom
  let server: DatabaseServer
  let databases: SiteDatabases
  let watch: DatabaseDiskWatch
  let directory: SitePlace
  let login: ServerLogin
  let open: Connection[] = []
  const refusals: [number, string][] = []

  beforeAll(async () => {
    disk = await smallDisk(900)
    room = new FreeRoom(disk.folder, 64 * MB)
    server = await startOwnServer({ folder: join(disk.folder, 'mariadb'), uid: testUid, log: noLog, room })
    databases = new SiteDatabases(server, PREFIX)
  })
  afterAll(async () => {
    await server?.stop(30_000)
    await disk?.remove()
  })
  beforeEach(async () => {
    directory = { siteId: 7, siteDirectory: join(disk.folder, 'h7'), uid: testUid }
    await mkdir(directory.siteDirectory, { recursive: true })
    login = await databases.create(directory)
    refusals.length = 0
  })
  afterEach(async () => {
    await watch?.stop()
    for (const connection of open) connection.destroy()
    open = []
    await databases.drop(directory)
    await rm(directory.siteDirectory, { recursive: true })
  })

  const connect = async () => {
    const { user, password, database } = login
    const connection = await server.connect({ user, password, database })
    open.push(connection)
    return connection
  }
  const watching = (options: Partial<DatabaseDiskWatchOptions> = {}) => {
    watch = new DatabaseDiskWatch({
      databases,
      room,
      quotaOf: async () => 100 * MB,
      filesOf: () => 0,
      onRefusal: (id, why) => refusals.push([id, why]),
      log: noLog,
      ...options,
    })
    return watch
  }
  const fill = async (table: string, megabytes: number) => {
    const site = await connect()
    await fillBy(site, table, megabytes)
    site.destroy()
  }
  const fillBy = async (site: Connection, table: string, megabytes: number) => {
    await site.query(`create table if not exists ${table} (id int auto_increment primary key, b longtext)`)
    for (let at = 0; at < megabytes; at += 10)
      await site.query(`insert into ${table} (b) values (repeat('x', 10000000))`)
  }

  test('lets a site over its quota read and delete, but add nothing until it is below', async () => {
    watching()
    const site = await connect()
    await site.query('create table wp_usermeta (id int auto_increment primary key, v text)')
    await site.query('create table wp_posts (id int auto_increment primary key, v text)')
    await site.query("insert into wp_posts (v) values ('kept')")
    await fill('big', 110)
    await watch.look({ now: true })
    expect([databases.levelOf(login.user), refusals]).toEqual(['reduced', [[7, 'quota']]])
    // Its connections would keep their earlier rights.
    await expect(site.query('select 1')).rejects.toThrow()
    const after = await connect()
    for (const sql of [
      "insert into wp_posts (v) values ('x')",
      'create table more (a int)',
      'alter table wp_posts add c int',
      'create index i on wp_posts (v(9))',
      'create temporary table temporary_one (a int)',
      'load data local infile "x" into table wp_posts',
    ])
      await expect(after.query(sql)).rejects.toThrow(/denied|not allowed|disabled/)
    expect(await rowsOf(after, 'select v from wp_posts')).toEqual([['kept']])
    // Users can sign in and move posts to the trash.
    await after.query("insert into wp_usermeta (v) values ('session')")
    await after.query("update wp_posts set v = 'trash'")
    // Creating the account again restores no rights.
    await databases.create(directory)
    await expect((await connect()).query('create table more (a int)')).rejects.toThrow('denied')

    await after.query('drop table big')
    await watch.look({ now: true })
    expect(databases.levelOf(login.user)).toBe('all')
    await (await connect()).query("insert into wp_posts (v) values ('x')")
    expect(
      await rowsOf(await server.connect(), `select * from mysql.tables_priv where user = '${login.user}'`),
    ).toEqual([])
  })

  test('allows only deletions far above the quota, and the next process knows it', async () => {
    watching()
    await fill('wp_usermeta', 140)
    await watch.look({ now: true })
    expect(databases.levelOf(login.user)).toBe('least')
    const site = await connect()
    await expect(site.query("update wp_usermeta set b = ''")).rejects.toThrow('denied')
    await expect(site.query("insert into wp_usermeta (b) values ('')")).rejects.toThrow('denied')
    await site.query('delete from wp_usermeta limit 1')
    await watch.stop()
    databases = new SiteDatabases(server, PREFIX)
    watching()
    await site.query('drop table wp_usermeta')
    await watch.look({ now: true })
    await (await connect()).query('create table again (a int)')
  })

  test('rebuilds tables, so that deleted rows free space', async () => {
    watching({ compactEveryMs: 0 })
    await fill('big', 120)
    await watch.look({ now: true })
    await (await connect()).query('delete from big')
    await expect
      .poll(
        async () => {
          await watch.look({ now: true })
          return databases.levelOf(login.user)
        },
        { timeout: 120_000, interval: 200 },
      )
      .toBe('all')
    expect(watch.bytesOf(7)).toBeLessThan(50 * MB)
  })

  test('applies one quota to files and database together', async () => {
    watching({ filesOf: () => 95 * MB })
    await fill('big', 20)
    await watch.look({ now: true })
    expect(databases.levelOf(login.user)).toBe('reduced')
  })

  test('survives a site that writes as fast as it can, and other sites keep reading', async () => {
    const other = { siteId: 8, siteDirectory: join(disk.folder, 'h8'), uid: testUid }
    await mkdir(other.siteDirectory, { recursive: true })
    const its = await databases.create(other)
    watching({ quotaOf: async () => undefined }).start()
    const writing = [1, 2, 3].map(async (number) => fillBy(await connect(), `big${number}`, 5000))
    for (const end of await Promise.allSettled(writing)) expect(end.status).toBe('rejected')
    await expect.poll(() => refusals.length, { timeout: 60_000 }).toBeGreaterThan(0)
    expect([server.restarts, server.isUp, watch.diskLevel === 'all']).toEqual([0, true, false])
    await expect.poll(() => databases.levelOf(its.user)).not.toBe('all')
    expect(room.ask()).toBeGreaterThan(16 * MB)
    // Its sessions ended together with its rights.
    await expect
      .poll(async () => {
        const site = await server.connect({ user: its.user, password: its.password, database: its.database })
        return rowsOf(site, 'select 1').finally(() => site.destroy())
      })
      .toEqual([['1']])
    // Deleting the site frees its space, and all may write again.
    await databases.drop(directory)
    await expect.poll(() => databases.levelOf(its.user), { timeout: 60_000 }).toBe('all')
    expect(room.ask()).toBeGreaterThan(500 * MB)
    await databases.drop(other)
  })

  test('retries a server that found no space, reports why, and restores it when there is some', async () => {
    const faults: string[] = []
    const small = await smallDisk(250)
    const options = {
      folder: join(small.folder, 'mariadb'),
      uid: testUid,
      log: noLog,
      room: new FreeRoom(small.folder, 8 * MB),
      onFault: (fault: string) => void faults.push(fault),
    }
    try {
      await (await startOwnServer(options)).stop(30_000)
      await small.fill(1 * MB)
      const late = await startOwnServer(options)
      expect([late.isUp, late.fault, faults]).toEqual([
        false,
        expect.stringContaining('disk of the host is full'),
        [late.fault],
      ])
      await small.relieve()
      await expect.poll(() => late.isUp, { timeout: 120_000 }).toBe(true)
      expect([late.fault, (await asAdministrator(late, (connection) => rowsOf(connection, 'select 1')))[0]]).toEqual([
        undefined,
        ['1'],
      ])
      await late.stop(30_000)
    } finally {
      await small.remove()
    }
  })
})
