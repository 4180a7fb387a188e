/** Tests what only a database on a server has: it is switched table by table, and the host may die at any statement. */
import type { Connection } from 'mysql2/promise'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { hasMariaDb } from '../../../../test/support/mariadb.ts'
import { type OwnMariaDb, startOwnMariaDb, testPrefix } from '../../../../test/support/own-mariadb.ts'
import type { ServerLogin } from '../../php/wp-config.ts'
import type { DatabaseContent, SitePlace } from '../../site-database/database-content.ts'
import { SiteUnavailable } from '../../site-database/site-database.ts'
import { DiskFull } from '../../site-directories/disk-space.ts'
import { rowsOf } from '../server/connect.ts'
import { SiteDatabases } from '../site-databases.ts'
import { createMariaDbContent } from './mariadb-content.ts'

const pool = { between: async <Result>(_siteId: number, work: () => Promise<Result>) => work() }

async function* pieces(text: string): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < text.length; at += 1000) yield Buffer.from(text.slice(at, at + 1000))
}

/** A site's two tables, one of which references the other, and one that only this version has. */
const version = (name: string) => `
  CREATE TABLE child (id int PRIMARY KEY, of int, FOREIGN KEY (of) REFERENCES parent (id) ON DELETE CASCADE);
  CREATE TABLE parent (id int PRIMARY KEY, v varchar(10));
  CREATE TABLE only_${name} (id int);
  INSERT INTO parent VALUES (1, '${name}'); INSERT INTO child VALUES (1, 1);
  -- Dump completed`

describe.skipIf(!hasMariaDb)('a database on a server', () => {
  let maria: OwnMariaDb
  let content: DatabaseContent
  let directory: SitePlace
  let login: ServerLogin
  let siteDirectories = 0
  beforeAll(async () => {
    maria = await startOwnMariaDb()
    content = createMariaDbContent({ databases: maria.databases, pool })
  })
  afterAll(() => maria?.stop())
  beforeEach(async () => {
    directory = await maria.home(++siteDirectories)
    login = await maria.databases.create(directory)
    await content.load(directory, pieces(version('old')))
    await content.switch(directory)
    await content.cleanUp(directory)
  })

  const ask = async (sql: string) => {
    const connection = await maria.server.connect(login)
    try {
      return await rowsOf(connection, sql)
    } finally {
      connection.destroy()
    }
  }
  /** Returns the version that the site has, and checks that it is complete: tables, rows, and references. */
  async function versionNow(): Promise<string> {
    const tables = (await ask('show tables')).flat().sort()
    const [row] = await ask('select v from parent join child on child.of = parent.id')
    const name = row?.[0] ?? ''
    expect(tables).toEqual(['child', `only_${name}`, 'parent'])
    await ask('start transaction')
    expect(
      await ask(
        'select constraint_name from information_schema.referential_constraints where constraint_schema = database()',
      ),
    ).toHaveLength(1)
    await expect(ask('insert into child values (9, 9)')).rejects.toThrow('foreign key constraint fails')
    return name
  }
  /** The same content, on a host that dies at a given statement. */
  function dyingAt(last: number) {
    let count = 0
    const dies = (connection: Connection) =>
      new Proxy(connection, {
        get(target, name) {
          const value = Reflect.get(target, name)
          if (typeof value !== 'function') return value
          if (name !== 'query') return value.bind(target)
          return async (...words: unknown[]) => {
            if (++count > last) throw new Error('the host is dead')
            return value.apply(target, words)
          }
        },
      })
    const server = {
      ...maria.server,
      accountHost: maria.server.accountHost,
      connect: async (...words: Parameters<typeof maria.server.connect>) => dies(await maria.server.connect(...words)),
    }
    return createMariaDbContent({ databases: new SiteDatabases(server as typeof maria.server, testPrefix), pool })
  }
  /**
   * Runs `begin` on a host that dies at each statement in turn, and then runs `then`.
   * @returns the number of statements
   */
  async function cutAnywhere(
    begin: (content: DatabaseContent) => Promise<void>,
    then: () => Promise<void>,
    again: () => Promise<void>,
  ): Promise<number> {
    for (let last = 0; ; last++) {
      await again()
      const isDone = await begin(dyingAt(last)).then(
        () => true,
        (error: Error) => {
          expect(error.message).toContain('the host is dead')
          return false
        },
      )
      await then()
      if (isDone) return last
    }
  }
  const loadNew = async () => {
    await content.switchBack(directory)
    await content.cleanUp(directory)
    await content.load(directory, pieces(version('new')))
  }

  test('finishes a switch that was interrupted at any statement when called again, and shows the site no half of it', async () => {
    const count = await cutAnywhere(
      (dying) => dying.switch(directory),
      async () => {
        // The site sees one of the versions, or nothing.
        const seen = await versionNow().catch((error: Error) => error.message)
        expect(['old', 'new', `Access denied, this account is locked`]).toContain(seen)
        if (seen.includes('locked')) {
          const { hasNext } = await content.state(directory)
          if (hasNext) await content.snapshot(directory).catch((error) => expect(error).toBeInstanceOf(SiteUnavailable))
        }
        await content.switch(directory)
        expect(await versionNow()).toBe('new')
        expect(await content.state(directory)).toEqual({ hasCurrent: true, hasNext: false, hasPrevious: true })
      },
      loadNew,
    )
    expect(count).toBeGreaterThan(15)
  })

  test('reverts a switch that was interrupted at any statement', async () => {
    await cutAnywhere(
      (dying) => dying.switch(directory),
      async () => {
        await content.switchBack(directory)
        expect(await versionNow()).toBe('old')
        await content.cleanUp(directory)
        expect(await content.state(directory)).toEqual({ hasCurrent: true, hasNext: false, hasPrevious: false })
      },
      loadNew,
    )
  })

  test('finishes a revert that was interrupted at any statement, when called again or before anything else', async () => {
    const again = async () => {
      for (const name of ['old', 'new']) {
        await content.cleanUp(directory)
        await content.load(directory, pieces(version(name)))
        await content.switch(directory)
      }
    }
    const finishers = [
      () => content.switchBack(directory),
      () => content.cleanUp(directory),
      () => content.load(directory, pieces(version('newer'))),
    ]
    let turn = 0
    await cutAnywhere(
      (dying) => dying.switchBack(directory),
      async () => {
        const { hasNext } = await content.state(directory)
        const finisher = turn++ % finishers.length
        await finishers[finisher]?.()
        if (finisher === 0) await content.switchBack(directory)
        await content.cleanUp(directory)
        // Other operations may also run before the revert had begun.
        const now = await versionNow()
        expect([hasNext, finisher === 0 ? now : ['old', 'new'].includes(now)]).toEqual([
          false,
          finisher === 0 ? 'old' : true,
        ])
      },
      again,
    )
  })

  test('ignores what an interrupted load leaves behind', async () => {
    const text = version('new')
    const stillOld = async () => {
      expect((await content.state(directory)).hasNext).toBe(false)
      await content.switch(directory)
      expect(await versionNow()).toBe('old')
    }
    let statements = 0
    const isLoaded = () =>
      dyingAt(statements)
        .load(directory, pieces(text))
        .then(
          () => true,
          () => false,
        )
    for (; !(await isLoaded()); statements++) await stillOld()
    expect(statements).toBeGreaterThan(3)
    await content.cleanUp(directory)
    async function* cutOffAt(length: number) {
      for (let at = 0; at < length; at += 10) yield Buffer.from(text.slice(at, Math.min(at + 10, length)))
      throw new Error('the host is dead')
    }
    // Dies at its last statement, so that the leftovers stay.
    for (let length = 0; length <= text.length; length += 60) {
      await expect(dyingAt(statements - 1).load(directory, cutOffAt(length))).rejects.toThrow('the host is dead')
      await stillOld()
    }
  })

  test('does not blame the dump when the server stops, and loses nothing', async () => {
    async function* ending() {
      yield Buffer.from(version('new').split('INSERT')[0] as string)
      await maria.ask('shutdown').catch(() => {})
      await expect.poll(() => maria.server.restarts).toBeGreaterThan(0)
      yield Buffer.from('INSERT INTO parent VALUES (1, 1);\n-- Dump completed')
    }
    const fault = await content.load(directory, ending()).catch((error: Error) => error)
    expect((fault as Error).name).not.toBe('DumpUnreadable')
    await expect.poll(() => maria.server.isUp).toBe(true)
    expect(await versionNow()).toBe('old')
    await content.load(directory, pieces(version('new')))
    await content.switch(directory)
    expect(await versionNow()).toBe('new')
  })

  test.each([
    'alter table parent add column more int',
    'alter table parent drop column v, add column v varchar(10) default 9',
    'truncate table parent',
    'drop table child',
  ])('fails a dump, and never returns a wrong one, when the site meanwhile does: %s', async (sql) => {
    const snapshot = await content.snapshot(directory)
    await ask(`set statement foreign_key_checks = 0 for ${sql}`)
    await expect(Array.fromAsync(snapshot.dump())).rejects.toThrow(SiteUnavailable)
    await snapshot.close()
  })

  test('fails another dump of a snapshot whose last dump was not read to its end', async () => {
    await ask('create table many (id int primary key, t varchar(1000))')
    await ask("insert into many select seq, repeat('x', 1000) from seq_1_to_20000")
    const snapshot = await content.snapshot(directory)
    const dump = snapshot.dump()[Symbol.asyncIterator]()
    await dump.next()
    await dump.return?.()
    await expect(Array.fromAsync(snapshot.dump())).rejects.toThrow(SiteUnavailable)
    await snapshot.close()
  })

  test('restores four-byte numbers exactly, from their shortest text', async () => {
    await ask('create table numbers (id int auto_increment primary key, f float)')
    await ask(
      'insert into numbers (f) values (0.1), (1/3), (16777216), (3.4028234663852886e38), (1.17549435e-38), (-0.7), (123456.7)',
    )
    const before = await ask('select cast(f as double) from numbers order by id')
    const snapshot = await content.snapshot(directory)
    const text = String(Buffer.concat(await Array.fromAsync(snapshot.dump())))
    await snapshot.close()
    expect(text).toContain('(1,0.1),')
    await content.load(directory, pieces(text))
    await content.switch(directory)
    expect(await ask('select cast(f as double) from numbers order by id')).toEqual(before)
  })

  test('loads nothing onto a full disk', async () => {
    const full = createMariaDbContent({ databases: maria.databases, pool, keepFreeBytes: Number.MAX_SAFE_INTEGER })
    await expect(full.load(directory, pieces(version('new')))).rejects.toThrow(DiskFull)
    expect(await versionNow()).toBe('old')
  })

  test('rejects a value that does not fit into a column instead of truncating it', async () => {
    const text = "CREATE TABLE t (a varchar(3));\nINSERT INTO t VALUES ('four');\n-- Dump completed"
    await expect(content.load(directory, pieces(text))).rejects.toThrow(
      /cannot be loaded: Data t(oo long|runcated) for column 'a' at row 1/,
    )
  })

  test('keeps definitions in a dump from reaching other databases', async () => {
    const other = await maria.home(1000 + siteDirectories)
    const its = await maria.databases.create(other)
    for (const text of [
      "CREATE TABLE t (a text DEFAULT (load_file('/etc/passwd')));\nINSERT INTO t () VALUES ();\n-- Dump completed",
      'CREATE TABLE t (a int, b int AS (sleep(1)));\n-- Dump completed',
      `CREATE TABLE t (a int, b int AS ((select 1 from \`${its.database}\`.parent)));\n-- Dump completed`,
    ])
      await expect(content.load(directory, pieces(text))).rejects.toThrow(/cannot be loaded/)
    const referring = `CREATE TABLE t (a int, FOREIGN KEY (a) REFERENCES \`${its.database}\`.parent (id));\n-- Dump completed`
    await content.load(directory, pieces(referring))
    await content.switch(directory)
    // The database name before a table's name is dropped.
    expect((await ask('show create table t'))[0]?.[1]).not.toContain(its.database)
    await maria.databases.drop(other)
  })
})
