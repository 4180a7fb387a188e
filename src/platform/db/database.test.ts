import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, statSync } from 'node:fs'
import { sql } from 'kysely'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { migrations } from '../../../migrations/index.ts'
import { dialects, type TestDatabase, testDatabase } from '../../../test/support/database.ts'
import { announce, type Database, isUniqueViolation, lockForUpdate, openDatabase, type Tx } from './database.ts'
import { DatabaseTooNew, migrate } from './migrate.ts'
import { openSqlite } from './node-sqlite.ts'
import { withoutWaiting } from './postgres-dialect.ts'
import { precompiled } from './precompiled.ts'
import { prepareAnew } from './prepared-client.ts'

const account = (email: string) => ({
  email,
  name: '',
  organization: '',
  phone_number: '',
  plan: 'Personal',
  default_php_version: '8.3',
  default_datacenter: null,
  created_at: 1_700_000_000_000,
})

for (const { dialect, skip } of dialects) {
  describe.skipIf(skip)(`database on ${dialect}`, () => {
    let made: TestDatabase
    let db: Database
    beforeEach(async () => {
      made = await testDatabase(dialect)
      db = made.database
    })
    afterEach(() => made.drop())

    test('rolls back a transaction that throws', async () => {
      const failing = db.transaction(async (tx) => {
        await tx.insertInto('accounts').values(account('a@example.com')).execute()
        throw new Error('no')
      })
      await expect(failing).rejects.toThrow('no')
      expect(await db.read.selectFrom('accounts').selectAll().execute()).toEqual([])
    })

    test('of tests refuses a transaction inside another, which would wait for ever on SQLite', async () => {
      const inner = () => db.transaction(async () => 'inner')
      await expect(db.transaction(inner)).rejects.toThrow('inside another')
      // what starts in a transaction may begin its own after it
      let later = Promise.resolve('')
      let commit = () => {}
      await db.transaction(async () => {
        later = new Promise<void>((resolve) => {
          commit = resolve
        }).then(inner)
      })
      commit()
      expect(await later).toBe('inner')
    })

    test('returns ids and times as numbers, and never reuses an id', async () => {
      const insert = (email: string) =>
        db.transaction((tx) =>
          tx.insertInto('accounts').values(account(email)).returningAll().executeTakeFirstOrThrow(),
        )
      const first = await insert('a@example.com')
      expect(first).toMatchObject({ id: 1, created_at: 1_700_000_000_000 })
      await db.transaction((tx) => tx.deleteFrom('accounts').where('id', '=', first.id).execute())
      expect((await insert('b@example.com')).id).toBe(2)
    })

    test('distinguishes a second row with a unique value from other errors', async () => {
      const insert = () => db.transaction((tx) => tx.insertInto('accounts').values(account('a@example.com')).execute())
      await insert()
      await expect(insert()).rejects.toSatisfy(isUniqueViolation)
      await expect(sql`select nonsense`.execute(db.read)).rejects.not.toSatisfy(isUniqueViolation)
    })

    test('keeps twenty transactions that count under a lock within the limit', async () => {
      await db.transaction((tx) => tx.insertInto('accounts').values(account('a@example.com')).execute())
      const attempt = (number: number) =>
        db.transaction(async (tx) => {
          await lockForUpdate(tx, 'accounts', 1)
          const rows = await tx.selectFrom('accounts').select('id').execute()
          if (rows.length < 6)
            await tx
              .insertInto('accounts')
              .values(account(`n${number}@example.com`))
              .execute()
        })
      await Promise.all(Array.from({ length: 20 }, (_, number) => attempt(number)))
      expect(await db.read.selectFrom('accounts').select('id').execute()).toHaveLength(6)
    })

    test('hears a commit of another connection, and changes the version', async () => {
      const other = await openDatabase(made.connection)
      try {
        const before = db.changes.version('routes')
        const heard = new Promise<void>((resolve) => {
          db.changes.subscribe('routes', resolve)
        })
        await other.transaction(async (tx) => {
          await tx.insertInto('accounts').values(account('a@example.com')).execute()
          await announce(tx, 'routes')
        })
        await heard
        expect(db.changes.version('routes')).not.toBe(before)
      } finally {
        await other.close()
      }
    })

    test('fails a statement on a unique value in the same way at each run, and continues others', async () => {
      const insert = () => db.transaction((tx) => tx.insertInto('accounts').values(account('a@example.com')).execute())
      await insert()
      for (let run = 0; run < 5; run++) await expect(insert()).rejects.toSatisfy(isUniqueViolation)
      const read = precompiled((tx, { email }: { email: string }) =>
        tx.selectFrom('accounts').select(['id', 'default_datacenter']).where('email', '=', email),
      )
      for (let run = 0; run < 5; run++)
        expect(await read(db.read, { email: 'a@example.com' })).toEqual([{ id: 1, default_datacenter: null }])
      expect(await read(db.read, { email: 'b@example.com' })).toEqual([])
    })

    test('gives five processes that migrate at once one schema', async () => {
      const others = await Promise.all(Array.from({ length: 5 }, () => openDatabase(made.connection)))
      await Promise.all(others.map((other) => migrate(other, migrations)))
      await Promise.all(others.map((other) => other.close()))
      expect(await db.read.selectFrom('sites').selectAll().execute()).toEqual([])
    })

    test('refuses a database that a newer program has used', async () => {
      const [newest, ...older] = Object.entries(migrations).reverse()
      expect(newest).toBeDefined()
      await expect(migrate(db, Object.fromEntries(older.reverse()))).rejects.toThrow(DatabaseTooNew)
    })
  })
}

describe.skipIf(dialects.find(({ dialect }) => dialect === 'postgres')?.skip)('PostgreSQL only', () => {
  test('prepares a statement from its second run on', async () => {
    const made = await testDatabase('postgres')
    // Earlier tests may have used up the limit of prepared statements.
    prepareAnew()
    const run = () =>
      made.database.transaction(async (tx) => {
        await tx.selectFrom('hosts').select('id as run_thrice').where('name', '=', 'none').execute()
        const { rows } = await sql<{ statement: string }>`select statement from pg_prepared_statements`.execute(tx)
        return rows.filter(({ statement }) => statement.includes('"run_thrice"')).length
      })
    expect([await run(), await run(), await run()]).toEqual([0, 1, 1])
    await made.drop()
  })

  test('continues with a statement that was prepared before a newer program changed its table', async () => {
    const made = await testDatabase('postgres')
    const ask = (tx: Tx) => tx.selectFrom('hosts').selectAll().where('id', '>', 0).execute()
    const run = () => made.database.transaction(ask)
    for (let times = 0; times < 3; times++) expect([await run(), await ask(made.database.read)]).toEqual([[], []])
    await sql`alter table hosts add column newer integer`.execute(made.database.read)
    expect(await run()).toEqual([])
    await sql`alter table hosts add column newest integer`.execute(made.database.read)
    expect(await ask(made.database.read)).toEqual([])
    await made.drop()
  })

  test('fails the transaction with the error of a statement that was not awaited, and saves nothing', async () => {
    const made = await testDatabase('postgres')
    const { database } = made
    const insertHost = (tx: Tx, name: string) =>
      tx.insertInto('hosts').values({ name, address: '', datacenters: '', max_sites: 1, facts: '', seen_at: 0 })
    const later = (tx: Tx, name: string) => tx.executeQuery(withoutWaiting(insertHost(tx, name).compile()))
    const atNextStatement = database.transaction(async (tx) => {
      await later(tx, 'one')
      await later(tx, 'one')
      await tx.selectFrom('hosts').select('id').execute()
    })
    await expect(atNextStatement).rejects.toSatisfy(isUniqueViolation)
    const atCommit = database.transaction(async (tx) => {
      await later(tx, 'two')
      await later(tx, 'two')
    })
    await expect(atCommit).rejects.toSatisfy(isUniqueViolation)
    const swallowed = database.transaction(async (tx) => {
      await insertHost(tx, 'three').execute()
      await insertHost(tx, 'three')
        .execute()
        .catch(() => {})
    })
    await expect(swallowed).rejects.toThrow('nothing of it was kept')
    const thrown = database.transaction(async (tx) => {
      await later(tx, 'four')
      throw new Error('no')
    })
    await expect(thrown).rejects.toThrow('no')
    await database.transaction((tx) => later(tx, 'five'))
    expect(await database.read.selectFrom('hosts').select('name').execute()).toEqual([{ name: 'five' }])
    await made.drop()
  })

  test('fails a transaction whose connection is lost, saves nothing, and opens another connection', async () => {
    const made = await testDatabase('postgres')
    const { database } = made
    const other = new pg.Client({ connectionString: made.connection.url })
    await other.connect()
    const insertHost = (tx: Tx, name: string) =>
      tx.insertInto('hosts').values({ name, address: '', datacenters: '', max_sites: 1, facts: '', seen_at: 0 })
    const later = (tx: Tx, name: string) => tx.executeQuery(withoutWaiting(insertHost(tx, name).compile()))
    const lost = database.transaction(async (tx) => {
      await later(tx, 'one')
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx)
      await other.query('select pg_terminate_backend($1)', [rows[0]?.pid])
      await later(tx, 'two')
    })
    await expect(lost).rejects.toThrow()
    await database.transaction((tx) => later(tx, 'three'))
    expect(await database.read.selectFrom('hosts').select('name').execute()).toEqual([{ name: 'three' }])
    await other.end()
    await made.drop()
  })

  test('does not make reads wait for a slow one, and reconnects after the server closed connections', async () => {
    const made = await testDatabase('postgres')
    const { read } = made.database
    const lock = new pg.Client({ connectionString: made.connection.url })
    await lock.connect()
    await lock.query('select pg_advisory_lock(1)')
    const slow = sql<{ done: number }>`select 1 as done from pg_advisory_lock(1)`.execute(read)
    const waits = sql`select 1 from pg_stat_activity where wait_event = 'advisory'`
    await expect.poll(async () => (await waits.execute(read)).rows.length).toBeGreaterThan(0)
    for (let times = 0; times < 50; times++)
      expect((await sql<{ n: number }>`select ${times}::integer as n`.execute(read)).rows).toEqual([{ n: times }])
    await lock.query('select pg_advisory_unlock(1)')
    expect((await slow).rows).toEqual([{ done: 1 }])
    const others = "datname = current_database() and pid <> pg_backend_pid() and query not like '%listen%'"
    const killed = sql`select pg_advisory_lock(2), pg_advisory_lock(2)`
    await lock.query('select pg_advisory_lock(2)')
    const failing = killed.execute(read)
    failing.catch(() => {})
    await expect.poll(async () => (await waits.execute(read)).rows.length).toBeGreaterThan(0)
    await lock.query(`select pg_terminate_backend(pid) from pg_stat_activity where ${others}`)
    await expect(failing).rejects.toThrow()
    await expect
      .poll(() =>
        sql`select 1 as n`.execute(read).then(
          ({ rows }) => rows,
          () => [],
        ),
      )
      .toEqual([{ n: 1 }])
    await lock.end()
    await made.drop()
  })

  test('announces each topic of a transaction once, and none after a rollback', async () => {
    const made = await testDatabase('postgres')
    const listener = new pg.Client({ connectionString: made.connection.url })
    await listener.connect()
    const heard: (string | undefined)[] = []
    listener.on('notification', ({ payload }) => heard.push(payload))
    await listener.query('listen stead')
    const announceAll = async (tx: Tx) => {
      for (const topic of ['routes', 'operations', 'routes'] as const) await announce(tx, topic)
    }
    const rolledBack = made.database.transaction(async (tx) => {
      await announceAll(tx)
      throw new Error('no')
    })
    await expect(rolledBack).rejects.toThrow('no')
    await made.database.transaction(announceAll)
    await announce(made.database.read, 'tokens')
    await expect.poll(() => heard).toEqual(['routes', 'operations', 'tokens'])
    await listener.end()
    await made.drop()
  })
})

test('leaves an SQLite database intact and unlocked when a process is killed inside a transaction', async () => {
  const made = await testDatabase('sqlite')
  const script = `
    const { DatabaseSync } = require('node:sqlite')
    const db = new DatabaseSync(${JSON.stringify(made.connection.file)})
    db.exec('begin immediate')
    db.exec("insert into schedules values ('x', 1)")
    process.stdout.write('locked')
    setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'ignore'] })
  await once(child.stdout, 'data')
  child.kill('SIGKILL')
  await once(child, 'exit')
  await made.database.transaction((tx) => tx.insertInto('schedules').values({ name: 'y', last_slot: 2 }).execute())
  expect(await made.database.read.selectFrom('schedules').selectAll().execute()).toEqual([{ name: 'y', last_slot: 2 }])
  await made.drop()
})

const modes = (file: string) => [file, `${file}-wal`].map((path) => statSync(path).mode & 0o777)

test('limits an SQLite file and its log to the owner, even an older file', async () => {
  const made = await testDatabase('sqlite')
  const { file } = made.connection
  expect(modes(file)).toEqual([0o600, 0o600])
  chmodSync(file, 0o644)
  const again = await openDatabase({ file })
  expect(modes(file)).toEqual([0o600, 0o600])
  await again.close()
  await made.drop()
})

test('waits for the disk, except in a process whose writes may be lost in a power failure', async () => {
  const made = await testDatabase('sqlite')
  const { file } = made.connection
  const [full, relaxed] = [openSqlite({ file, readOnly: false }), openSqlite({ file, readOnly: false, mayLose: true })]
  const pragma = (database: typeof full, name: string) =>
    Object.values(database.prepare(`pragma ${name}`).get() ?? {})[0]
  expect([pragma(full, 'synchronous'), pragma(full, 'wal_autocheckpoint')]).toEqual([2, 1000])
  expect([pragma(relaxed, 'synchronous'), pragma(relaxed, 'wal_autocheckpoint')]).toEqual([1, 0])
  full.close()
  relaxed.close()
  await made.drop()
})
