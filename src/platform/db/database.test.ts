import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, statSync } from 'node:fs'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { migrations } from '../../../migrations/index.ts'
import { dialects, type TestDatabase, testDatabase } from '../../../test/support/database.ts'
import { announce, type Database, isUniqueViolation, lockForUpdate, openDatabase } from './database.ts'
import { DatabaseTooNew, migrate } from './migrate.ts'

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

    test('a transaction that throws leaves nothing', async () => {
      const failing = db.transaction(async (tx) => {
        await tx.insertInto('accounts').values(account('a@example.com')).execute()
        throw new Error('no')
      })
      await expect(failing).rejects.toThrow('no')
      expect(await db.read.selectFrom('accounts').selectAll().execute()).toEqual([])
    })

    test('ids and times come back as numbers, and an id is never given out twice', async () => {
      const insert = (email: string) =>
        db.transaction((tx) =>
          tx.insertInto('accounts').values(account(email)).returningAll().executeTakeFirstOrThrow(),
        )
      const first = await insert('a@example.com')
      expect(first).toMatchObject({ id: 1, created_at: 1_700_000_000_000 })
      await db.transaction((tx) => tx.deleteFrom('accounts').where('id', '=', first.id).execute())
      expect((await insert('b@example.com')).id).toBe(2)
    })

    test('a second row with a unique value is told from other errors', async () => {
      const insert = () => db.transaction((tx) => tx.insertInto('accounts').values(account('a@example.com')).execute())
      await insert()
      await expect(insert()).rejects.toSatisfy(isUniqueViolation)
      await expect(sql`select nonsense`.execute(db.read)).rejects.not.toSatisfy(isUniqueViolation)
    })

    test('twenty transactions that count under a lock never pass the limit', async () => {
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

    test('a commit of another connection is heard, and changes the version', async () => {
      const other = await openDatabase(made.connection)
      try {
        const before = db.changes.version('routes')
        const heard = new Promise<void>((resolve) => {
          db.changes.subscribe('routes', resolve)
        })
        await other.transaction(async (tx) => {
          await tx.insertInto('accounts').values(account('a@example.com')).execute()
          await announce(tx, 'routes', 'x.localhost')
        })
        await heard
        expect(db.changes.version('routes')).not.toBe(before)
      } finally {
        await other.close()
      }
    })

    test('five processes that migrate at once end with one schema', async () => {
      const others = await Promise.all(Array.from({ length: 5 }, () => openDatabase(made.connection)))
      await Promise.all(others.map((other) => migrate(other, migrations)))
      await Promise.all(others.map((other) => other.close()))
      expect(await db.read.selectFrom('sites').selectAll().execute()).toEqual([])
    })

    test('a database that a newer program has used is refused', async () => {
      const [newest, ...older] = Object.entries(migrations).reverse()
      expect(newest).toBeDefined()
      await expect(migrate(db, Object.fromEntries(older.reverse()))).rejects.toThrow(DatabaseTooNew)
    })
  })
}

test('a process that is killed inside a transaction on SQLite leaves the database whole and free', async () => {
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

test('only the owner reads an SQLite file and its log, also an older one', async () => {
  const made = await testDatabase('sqlite')
  const { file } = made.connection
  expect(modes(file)).toEqual([0o600, 0o600])
  chmodSync(file, 0o644)
  const again = await openDatabase({ file })
  expect(modes(file)).toEqual([0o600, 0o600])
  await again.close()
  await made.drop()
})
