/**
 * Simulates a PostgreSQL server that accepts connections and never answers: it is stopped, or packets to it are
 * dropped.
 */
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type CuttingProxy, openCuttingProxy } from '../../../test/support/cutting-proxy.ts'
import { postgresUrl, type TestDatabase, testDatabase } from '../../../test/support/database.ts'
import { CommitUnknown } from './commit-unknown.ts'
import { type Database, isBusy, isUnreachable, openDatabase, withoutTimeLimit } from './database.ts'
import { BoundedClient, CONNECT_MS } from './postgres-client.ts'
import { heartbeat, isSilent, NOTICED_MS } from './postgres-silence.ts'

describe('the heartbeat', () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  test('reports a server that does not answer, once', async () => {
    const onSilent = vi.fn()
    heartbeat(() => new Promise(() => {}), onSilent)
    await vi.advanceTimersByTimeAsync(3500)
    expect(onSilent).not.toHaveBeenCalled()
    // Callers, which may have asked right after the last answer, learn it within five seconds.
    await vi.advanceTimersByTimeAsync(NOTICED_MS - 3500)
    expect(NOTICED_MS).toBeLessThan(5000)
    await vi.advanceTimersByTimeAsync(60_000)
    expect(onSilent).toHaveBeenCalledTimes(1)
  })

  test('does not report a slow server, or a lost connection', async () => {
    const onSilent = vi.fn()
    heartbeat(() => new Promise((resolve) => setTimeout(resolve, 2500)), onSilent)
    heartbeat(() => Promise.reject(new Error('lost')), onSilent)
    await vi.advanceTimersByTimeAsync(60_000)
    expect(onSilent).not.toHaveBeenCalled()
  })

  test('does not take a starved process of its own for a silent server', async () => {
    const onSilent = vi.fn()
    const stop = heartbeat(() => new Promise((resolve) => setImmediate(resolve)), onSilent)
    for (let turn = 0; turn < 10; turn++) {
      // This is one late turn of the loop, however long it took.
      vi.setSystemTime(Date.now() + 60_000)
      await vi.advanceTimersToNextTimerAsync()
    }
    expect(onSilent).not.toHaveBeenCalled()
    stop()
  })
})

test('fails connections to a server that accepts them and never answers', async () => {
  const server = createServer(() => {}).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const client = new BoundedClient({ connectionString: `postgres://stead@127.0.0.1:${port}/stead` })
  const connected = client.connect()
  const socket = (client as unknown as { connection: { stream: Socket } }).connection.stream
  await once(server, 'connection')
  expect(socket.timeout).toBe(CONNECT_MS)
  // Simulates the end of that time.
  socket.emit('timeout')
  await expect(connected).rejects.toMatchObject({ code: 'ETIMEDOUT' })
  server.close()
  await once(server, 'close')
})

describe.skipIf(!postgresUrl)('a database that falls silent', () => {
  let made: TestDatabase
  let proxy: CuttingProxy
  let database: Database
  beforeEach(async () => {
    made = await testDatabase('postgres')
    proxy = await openCuttingProxy(made.connection.url as string)
    database = await openDatabase({ url: proxy.url, file: '' })
  })
  afterEach(async () => {
    proxy.isSilent = false
    await database.close()
    await proxy.close()
    await made.drop()
  })

  const readOne = () => sql`select 1`.execute(database.read)
  const change = () =>
    database.transaction((tx) => tx.insertInto('schedules').values({ name: 'one', last_slot: 1 }).execute())
  const failure = (work: Promise<unknown>) =>
    work.then(
      () => undefined,
      (error: unknown) => error,
    )

  test('fails all waiting statements, fails later ones at once, and works again when it is back', async () => {
    await readOne()
    proxy.isSilent = true
    // There are more than connections, so the last ones wait for one.
    const waiting = [...Array.from({ length: 20 }, change), ...Array.from({ length: 20 }, readOne)]
    for (const error of await Promise.all(waiting.map(failure))) expect(isUnreachable(error)).toBe(true)
    await expect.poll(() => database.changes.version('routes'), { timeout: 30_000 }).toBeUndefined()
    // By now, nothing waits for a connection.
    for (const each of [change, readOne]) expect(await failure(each())).toMatchObject({ code: 'ETIMEDOUT' })

    proxy.isSilent = false
    await expect.poll(() => failure(readOne()), { timeout: 30_000 }).toBeUndefined()
    await change()
    expect(await database.read.selectFrom('schedules').select('name').execute()).toEqual([{ name: 'one' }])
  })

  test('fails waiting statements when it fell silent while notifications were reconnecting', async () => {
    await readOne()
    const listener = sql`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name = 'stead changes'`
    await listener.execute(database.read)
    await expect.poll(() => database.changes.version('routes')).toBeUndefined()
    proxy.isSilent = true
    const waiting = failure(readOne())
    await expect.poll(() => isSilent(proxy.url), { timeout: 30_000 }).toBe(true)
    expect(isUnreachable(await waiting)).toBe(true)
  })

  test('reports that a COMMIT without an answer may have been saved', async () => {
    const error = failure(
      database.transaction(async (tx) => {
        await tx.insertInto('schedules').values({ name: 'one', last_slot: 1 }).execute()
        proxy.isSilent = true
      }),
    )
    expect(await error).toBeInstanceOf(CommitUnknown)
  })

  test('limits each statement and each wait for one on the server, except in a copy of everything', async () => {
    const names = ['statement_timeout', 'idle_in_transaction_session_timeout']
    const shown = (tx: Parameters<Parameters<Database['transaction']>[0]>[0]) =>
      Promise.all(
        names.map(async (name) => Object.values((await sql.raw(`show ${name}`).execute(tx)).rows[0] as object)[0]),
      )
    expect(await database.transaction(shown)).toEqual(['30s', '30s'])
    const lifted = await database.transaction(async (tx) => {
      await withoutTimeLimit(tx)
      return shown(tx)
    })
    expect(lifted).toEqual(['0', '0'])
    expect(await database.atOneMoment(shown)).toEqual(['0', '0'])
    // The limits apply again in the next transaction on the same connection.
    expect(await database.transaction(shown)).toEqual(['30s', '30s'])
  })

  test('fails a statement that exceeds its limit as busy, and saves nothing of its transaction', async () => {
    const error = failure(
      database.transaction(async (tx) => {
        await tx.insertInto('schedules').values({ name: 'one', last_slot: 1 }).execute()
        await sql`set local statement_timeout = 1`.execute(tx)
        await sql`select pg_sleep(60)`.execute(tx)
      }),
    )
    expect(isBusy(await error)).toBe(true)
    expect(await database.read.selectFrom('schedules').select('name').execute()).toEqual([])
  })
})
