import { DatabaseSync } from 'node:sqlite'
import { sql } from 'kysely'
import Type from 'typebox'
import { afterEach, describe, expect, it } from 'vitest'
import { dialects, testDatabase } from '../../../../test/support/database.ts'
import { isBusy, isDiskFull, type Tx } from '../../db/database.ts'
import { nodeSqliteDialect } from '../../db/node-sqlite.ts'
import type { Endpoint } from '../endpoint.ts'
import { createLab, type Lab } from '../test-support.ts'

type Context = { tx: Tx }
let failing: (tx: Tx) => Promise<unknown> = async () => undefined
const common = { tag: 'Lab', summary: 'Test', access: 'any', response: Type.Object({ value: Type.String() }) }
const endpoints: Endpoint[] = [
  { ...common, id: 'read', method: 'GET', path: '/v1/thing', handle: async () => ({ value: 'read' }) },
  {
    ...common,
    id: 'write',
    method: 'POST',
    path: '/v1/thing',
    async handle(context) {
      await failing((context as unknown as Context).tx)
      return { value: 'written' }
    },
  },
]

let lab: Lab | undefined
afterEach(async () => {
  await lab?.close()
  lab = undefined
})

const write = async (headers = {}) => {
  const answer = await (lab as Lab).inject('POST', '/v1/thing', { headers })
  return [answer.statusCode, answer.headers['retry-after']]
}
const postgresFails = (code: string) => (tx: Tx) =>
  sql`do ${sql.lit(`begin raise exception using errcode = '${code}'; end`)}`.execute(tx)

describe.each(dialects.filter(({ skip }) => !skip))('$dialect: a full disk', ({ dialect }) => {
  it('507 with Retry-After, also with an Idempotency-Key; reads and the next change work', async () => {
    lab = await createLab(endpoints, { dialect })
    failing =
      dialect === 'postgres'
        ? postgresFails('53100')
        : async (tx) => {
            // SQLite aborts the whole transaction automatically when a change does not fit.
            const { rows } = await sql<{ page_count: number }>`pragma page_count`.execute(tx)
            await sql`pragma max_page_count = ${sql.lit(Number(rows[0]?.page_count) + 1)}`.execute(tx)
            try {
              await sql`create table filled as select randomblob(100000) as bytes`.execute(tx)
            } finally {
              await sql`pragma max_page_count = 1000000`.execute(tx)
            }
          }
    expect(await write()).toEqual([507, '5'])
    expect(await write({ 'idempotency-key': 'a' })).toEqual([507, '5'])
    expect((await (lab as Lab).inject('GET', '/v1/thing')).statusCode).toBe(200)
    failing = async () => undefined
    expect(await write({ 'idempotency-key': 'a' })).toEqual([200, undefined])
  })
})

describe.each([
  ['55P03', 'a lock'],
  ['57014', 'a time limit'],
])('PostgreSQL reports %s (%s)', (code) => {
  const skip = dialects.find(({ dialect }) => dialect === 'postgres')?.skip
  it.skipIf(skip)('503 with Retry-After', async () => {
    lab = await createLab(endpoints, { dialect: 'postgres' })
    failing = postgresFails(code)
    expect(await write()).toEqual([503, '5'])
  })
})

it('503 with Retry-After when another process keeps SQLite locked', async () => {
  const held = await testDatabase('sqlite')
  const holder = new DatabaseSync(held.connection.file)
  const driver = nodeSqliteDialect({ file: held.connection.file, readOnly: false, lockTimeoutMs: 1 }).createDriver()
  try {
    holder.exec('begin immediate')
    await driver.init()
    const connection = await driver.acquireConnection()
    lab = await createLab(endpoints)
    failing = () => driver.beginTransaction(connection, {})
    expect(await write()).toEqual([503, '5'])
  } finally {
    await driver.destroy()
    holder.close()
    await held.drop()
  }
})

it('recognizes errors of the system and of SQLite, with and without extended codes', () => {
  expect([{ code: 'ENOSPC' }, { code: 'EDQUOT' }, { errcode: 13 }].map(isDiskFull)).toEqual([true, true, true])
  expect([{ errcode: 5 }, { errcode: 517 }, { errcode: 778 }, { code: 'EIO' }].map(isBusy)).toEqual([
    true,
    true,
    true,
    true,
  ])
  expect([{ errcode: 1 }, { errcode: 2067 }, { code: 'ENOENT' }, new Error('x')].map(isBusy)).toEqual([
    false,
    false,
    false,
    false,
  ])
})

it('reports the error that made SQLite roll back, and runs the next transaction', async () => {
  const { database, drop } = await testDatabase('sqlite')
  const insert = sql`insert or rollback into schedules (name, last_slot) values ('a', 1)`
  try {
    await database.transaction((tx) => insert.execute(tx))
    await expect(database.transaction((tx) => insert.execute(tx))).rejects.toThrow(/UNIQUE/)
    await database.transaction((tx) => sql`delete from schedules`.execute(tx))
  } finally {
    await drop()
  }
})
