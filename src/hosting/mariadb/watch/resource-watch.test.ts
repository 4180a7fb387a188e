/** Sites that use up the memory and the temporary files of a server that they share. */
import type { Connection } from 'mysql2/promise'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { hasMariaDb } from '../../../../test/support/mariadb.ts'
import { type OwnMariaDb, startOwnMariaDb, testPrefix } from '../../../../test/support/own-mariadb.ts'
import { mariaDbLimits } from '../../../budgets.ts'
import { noLog } from '../../../platform/log/log.ts'
import type { ServerLogin } from '../../php/wp-config.ts'
import { rowsOf } from '../server/connect.ts'
import { SESSION_MEMORY_BYTES } from '../server/server-settings.ts'
import { overMemory, overTables, overTemporary, type ResourceLimits, ResourceWatch } from './resource-watch.ts'
import type { SiteSession } from './site-sessions.ts'

const MB = 1 << 20
const session = (id: number, directory: number, more: Partial<SiteSession> = {}): SiteSession => ({
  ...{ id, user: `h${directory}`, directory, isIdle: false, seconds: 1, bytes: 0 },
  ...more,
})
const idsOf = (endings: readonly { readonly session: SiteSession }[]) => endings.map((ending) => ending.session.id)

describe('choosing the sessions to end', () => {
  const limits = { siteMemoryBytes: 100, memoryBytes: 200, temporaryBytes: 50, allTemporaryBytes: 100 }
  const large = (id: number, directory: number, megabytes: number) => session(id, directory, { bytes: megabytes * MB })
  const inMb = { siteMemoryBytes: 100 * MB, memoryBytes: 200 * MB }

  test('ends the largest sessions of a site until it is within its limit', () => {
    const sessions = [large(1, 7, 30), large(2, 7, 60), large(3, 7, 50), large(4, 8, 90)]
    expect(idsOf(overMemory(sessions, inMb, 0))).toEqual([2])
    expect(idsOf(overMemory([large(1, 7, 101)], inMb, 0))).toEqual([1])
    expect(overMemory([large(1, 7, 100), large(2, 8, 100)], inMb, 200 * MB)).toEqual([])
  })

  test('ends the largest of all sessions when the server uses too much, but none that would free nothing', () => {
    const sessions = [large(1, 7, 30), large(2, 8, 60), large(3, 9, 1)]
    expect(idsOf(overMemory(sessions, inMb, 210 * MB))).toEqual([2])
    expect(idsOf(overMemory(sessions, inMb, 280 * MB))).toEqual([2, 1])
    expect(idsOf(overMemory(sessions, inMb, 900 * MB))).toEqual([2, 1])
  })

  test('ends sessions with too many temporary files, and the longest-running statement for files without a name', () => {
    const sessions = [session(1, 7), session(2, 8, { seconds: 9 }), session(3, 9, { seconds: 99, isIdle: true })]
    const files = (bytes: number, ...ofSession: [number, number][]) => ({ bytes, ofSession: new Map(ofSession) })
    expect(overTemporary(sessions, limits, files(50, [1, 50]))).toEqual([])
    expect(idsOf(overTemporary(sessions, limits, files(51, [1, 51])))).toEqual([1])
    expect(idsOf(overTemporary(sessions, limits, files(101)))).toEqual([2])
    expect(idsOf(overTemporary(sessions, limits, files(101, [1, 40])))).toEqual([1])
    expect(idsOf(overTemporary(sessions, limits, files(300, [1, 60])))).toEqual([1, 2])
    expect(overTemporary([], limits, files(300))).toEqual([])
  })

  test('ends the longest-running write and long-idle sessions when temporary tables take too much', () => {
    const sessions = [
      session(1, 7, { seconds: 3 }),
      session(2, 8, { seconds: 5 }),
      // Only reads.
      session(3, 9, { seconds: 99 }),
      session(4, 7, { seconds: 10, isIdle: true }),
      session(5, 8, { seconds: 9, isIdle: true }),
    ]
    expect(idsOf(overTables(sessions, new Set([1, 2, 4]), 1))).toEqual([2, 4])
    expect(idsOf(overTables(sessions, new Set(), 1))).toEqual([4])
  })
})

describe.skipIf(!hasMariaDb)('a site on a shared server', { timeout: 120_000 }, () => {
  let maria: OwnMariaDb
  let login: ServerLogin
  let watch: ResourceWatch | undefined
  const open: Connection[] = []
  const connect = async () => {
    const { user, password, database } = login
    const connection = await maria.server.connect({ user, password, database })
    open.push(connection)
    return connection
  }
  const watching = (limits: Partial<ResourceLimits> = {}) => {
    const options = { server: maria.server, prefix: testPrefix, log: noLog }
    watch = new ResourceWatch({ ...options, limits: { ...mariaDbLimits, ...limits } })
    return watch
  }

  beforeAll(async () => {
    maria = await startOwnMariaDb()
    login = await maria.databases.create(await maria.home(1))
  })
  afterEach(async () => {
    await watch?.stop()
    for (const connection of open.splice(0)) connection.destroy()
  })
  afterAll(() => maria?.stop())

  test('has its session ended when its variables take too much memory, and others keep theirs', async () => {
    const other = await maria.databases.create(await maria.home(2))
    const its = await maria.server.connect({ user: other.user, password: other.password, database: other.database })
    open.push(its)
    await its.query("set @v = repeat('x', 1000000)")
    watching().start()
    const site = await connect()
    const hoard = async () => {
      for (let at = 0; at < 40; at++) await site.query(`set @v${at} = repeat('x', 60000000)`)
      // If this is faster than the watch, the watch still ends the session that holds the memory.
      for (;;) await site.query('select sleep(0.1)')
    }
    await expect(hoard()).rejects.toThrow()
    await expect.poll(() => watch?.ended).toBe(1)
    expect(await rowsOf(its, 'select length(@v)')).toEqual([['1000000']])
  })

  test('can store and read the largest value, and cannot raise its session limits', async () => {
    const site = await connect()
    await site.query('create table large (b longblob)')
    await site.query("insert into large values (repeat('x', 60000000))")
    expect(await rowsOf(site, 'select length(concat(b)) from large')).toEqual([['60000000']])
    for (const name of ['max_session_mem_used', 'tmp_disk_table_size']) {
      await site.query(`set session ${name} = 100000000000`)
      expect(Number((await rowsOf(site, `select @@${name}`))[0]?.[0])).toBeLessThanOrEqual(2 * SESSION_MEMORY_BYTES)
    }
  })

  test('has a statement ended that fills the shared temporary tablespace, before a rollback aborts the server', async () => {
    const site = await connect()
    watching({ temporaryTablesBytes: 40 * MB }).start()
    const fill = async () => {
      await site.query('create temporary table filled (a longtext)')
      await site.query("insert into filled values (repeat('x', 30000000))")
      // Up to half of the file's limit.
      for (let doubled = 0; doubled < 5; doubled++) await site.query('insert into filled select a from filled')
    }
    await expect(fill()).rejects.toThrow(/closed|killed|lost|gone/i)
    await expect.poll(() => watch?.ended).toBe(1)
    expect(maria.server.restarts).toBe(0)
    // The file keeps its size, which must not end a session whose statement changes rows across several checks.
    const next = await connect()
    await next.query("create temporary table filled as select repeat('x', 1000000) a")
    await next.query('create table slow (a int)')
    for (const sql of ['begin', 'insert into slow values (1)', 'select sleep(1)', 'commit']) await next.query(sql)
    expect([await rowsOf(next, 'select length(a) from filled'), watch?.ended]).toEqual([[['1000000']], 1])
  })

  test('has a statement ended that fills the disk with temporary files, with or without names', async () => {
    const site = await connect()
    await site.query('create table rows_ (a int, b varchar(1000))')
    await site.query("insert into rows_ select seq, repeat('x', 900) from seq_1_to_5000")
    watching({ temporaryBytes: 20 * MB, allTemporaryBytes: 40 * MB }).start()
    for (const sql of [
      'select distinct x.b, y.a, x.a from rows_ x, rows_ y order by y.b limit 100000000, 1',
      'select x.b from rows_ x, rows_ y order by x.b, y.a limit 20000000, 1',
    ])
      await expect((await connect()).query(sql)).rejects.toThrow(/closed|killed|lost|gone/i)
    await expect.poll(() => watch?.ended).toBe(2)
  })
})
