import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { migrations } from '../../../migrations/index.ts'
import { postgresUrl, type TestDatabase, testDatabase } from '../../../test/support/database.ts'
import { program } from '../../../test/support/stead.ts'
import { readConfig } from '../../config.ts'
import { registerHost } from '../../hosting/host.store.ts'
import { bindFolder } from '../../hosting/identity/bind.ts'
import { openDatabase } from '../../platform/db/database.ts'
import { migrate } from '../../platform/db/migrate.ts'
import { lockFile } from '../../platform/files/lock-file.ts'
import { openLogStore } from '../../platform/log-store/open-log-store.ts'
import { openControlDatabase, openProcessContext } from '../../roles/process-context.ts'
import { moveDatabase } from './move-database.ts'

const now = Date.now()
const entry = (id: number) => ({ siteId: 1, atMs: now - id, id, facet: 1, key: '', body: `e${id}` })

describe.skipIf(!postgresUrl)('from the SQLite file of a data folder to PostgreSQL', () => {
  let dataDir: string
  let file: string
  let target: TestDatabase
  let url: string
  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'stead-move-'))
    file = join(dataDir, 'stead.db')
    const context = await openProcessContext(readConfig({ STEAD_DATA_DIR: dataDir, STEAD_LOG_LEVEL: 'silent' }), 'test')
    const { database, logs } = context
    await logs.append('server', [entry(1), entry(2)])
    await logs.close()
    const { name, identity } = await bindFolder(dataDir, { database, where: '' }, Date.now())
    const { host, epoch } = identity.current
    await database.transaction(async (tx) => {
      await registerHost(tx, { name, address: '', datacenters: '', identity: host, epoch, maxSites: 1000 })
      await tx
        .insertInto('schedules')
        .values({ name: 'x', last_slot: 2 ** 52 })
        .execute()
    })
    await database.close()
    target = await testDatabase('postgres', {})
    url = target.connection.url as string
  })
  afterEach(async () => {
    await target.drop()
    await rm(dataDir, { recursive: true })
  })

  const move = (logMb: number | undefined = undefined) =>
    moveDatabase(dataDir, { to: url, logMb, onProgress: () => {} })

  const tablesOfTarget = () => target.database.read.introspection.getTables({ withInternalKyselyTables: true })

  async function changeSource(work: (database: Awaited<ReturnType<typeof openDatabase>>) => Promise<unknown>) {
    const database = await openDatabase({ file })
    await work(database)
    await database.close()
  }

  async function run(...words: string[]) {
    const child = spawn(process.execPath, [program, ...words], { env: { ...process.env, STEAD_DATA_DIR: dataDir } })
    let [out, error] = ['', '']
    child.stdout.on('data', (text) => {
      out += text
    })
    child.stderr.on('data', (text) => {
      error += text
    })
    const [code] = (await once(child, 'close')) as [number]
    return { code, out, error }
  }

  test('moves the control database and logs, renames the file, and runs only on the new database', async () => {
    const { code, out, error } = await run('database', 'move', `--to=${url}`)
    expect([code, error]).toEqual([0, expect.stringContaining('Comparing hosts, 1 rows')])
    expect(out).toContain(`old_file: ${file}.moved\n`)
    expect(out).toContain('log_entries: 2\n')
    expect(out).not.toContain(url)
    expect([existsSync(file), existsSync(`${file}-wal`), existsSync(`${file}.moved`)]).toEqual([false, false, true])

    const settings = { dataDir, databaseUrl: url }
    const { database, belonging } = await openControlDatabase(settings, { makes: false, strangers: 'refuse' })
    expect(belonging.kind).toBe('known')
    expect(await database.read.selectFrom('schedules').select('last_slot').execute()).toEqual([{ last_slot: 2 ** 52 }])
    await database.close()
    const logs = openLogStore({ url, folder: '' })
    const query = { kind: 'server', siteId: 1, before: { atMs: Date.now() + 1, id: 0 }, sinceMs: 0, limit: 9 } as const
    expect((await logs.page(query)).map(({ body }) => body)).toEqual(['e1', 'e2'])
    await logs.close()

    expect(await run('account', 'list')).toMatchObject({
      code: 2,
      error: expect.stringContaining('STEAD_DATABASE_URL'),
    })
    expect(await run('database', 'move', `--to=${url}`)).toMatchObject({
      code: 2,
      error: expect.stringContaining('was already moved to PostgreSQL'),
    })
    const config = readConfig({ STEAD_DATA_DIR: dataDir, STEAD_LOG_LEVEL: 'silent' })
    await expect(openProcessContext(config, 'serve')).rejects.toThrow('is missing')
  })

  test('completes with the same call after an interruption at the end', async () => {
    await cp(file, `${file}.copy`)
    await move()
    await cp(`${file}.copy`, file)
    expect(await move()).toMatchObject({ file: `${file}.moved-2` })
    expect(existsSync(file)).toBe(false)
  })

  test('leaves the file and the target unchanged if the target was used since', async () => {
    await cp(file, `${file}.copy`)
    await move()
    await cp(`${file}.copy`, file)
    await target.database.transaction((tx) => tx.updateTable('schedules').set({ last_slot: 3 }).execute())
    await expect(move()).rejects.toThrow('in another state')
    expect(await target.database.read.selectFrom('schedules').select('last_slot').execute()).toEqual([{ last_slot: 3 }])
    expect(existsSync(file)).toBe(true)
  })

  test.each([
    [
      'tables of somebody else',
      () => target.database.transaction((tx) => tx.schema.createTable('mine').addColumn('a', 'text').execute()),
    ],
    ['another installation', () => migrate(target.database, migrations)],
  ])('refuses a target with %s', async (_what, prepare) => {
    await prepare()
    const before = await tablesOfTarget()
    await expect(move()).rejects.toThrow('is not empty')
    expect(await tablesOfTarget()).toEqual(before)
    expect(existsSync(file)).toBe(true)
  })

  test.each([
    ['newer', '9999-from-tomorrow', 'a newer version of Stead'],
    ['older', undefined, 'an older version of Stead'],
  ])('refuses a file that was last used by a Stead which was %s, and creates nothing', async (_age, more, words) => {
    await changeSource(async ({ transaction }) =>
      transaction(async (tx) => {
        const known = tx.withTables<{ kysely_migration: { name: string; timestamp: string } }>()
        if (more) await known.insertInto('kysely_migration').values({ name: more, timestamp: '' }).execute()
        else
          await known
            .deleteFrom('kysely_migration')
            .where('name', '=', Object.keys(migrations).at(-1) as string)
            .execute()
      }),
    )
    await expect(move()).rejects.toThrow(words)
    expect(await tablesOfTarget()).toEqual([])
  })

  test('names the table of a row that PostgreSQL refuses, and creates nothing', async () => {
    await changeSource(({ transaction }) =>
      transaction((tx) => tx.insertInto('schedules').values({ name: 'a\0b', last_slot: 1 }).execute()),
    )
    await expect(move()).rejects.toThrow('does not take a row of the table schedules: ')
    expect(await tablesOfTarget()).toEqual([])
    await changeSource(({ transaction }) => transaction((tx) => tx.deleteFrom('schedules').execute()))
  })

  test('refuses while another process has the database open', async () => {
    const other = await openDatabase({ file })
    await expect(move()).rejects.toThrow('Another process uses')
    await other.close()
    const unlock = await lockFile(join(dataDir, 'serve.lock'))
    expect(await run('database', 'move', `--to=${url}`)).toMatchObject({
      code: 2,
      error: expect.stringContaining('Stead is running'),
    })
    unlock?.()
    expect(await tablesOfTarget()).toEqual([])
  })

  test('refuses the database of another data folder', async () => {
    await changeSource(({ transaction }) =>
      transaction((tx) => tx.updateTable('installation').set({ identity: 'other' }).execute()),
    )
    await expect(move()).rejects.toThrow('belongs to another installation')
    expect(await tablesOfTarget()).toEqual([])
  })

  test('reports an invalid address without printing it', async () => {
    expect(await run('database', 'move', '--to=mysql://me:secret@there/db')).toMatchObject({
      code: 2,
      error: '--to must be a postgres:// address\n',
    })
    const nobody = 'postgres://me:secret@127.0.0.1:1/none'
    const refused = await run('database', 'move', `--to=${nobody}`)
    expect(refused).toMatchObject({ code: 1, error: expect.stringContaining('cannot be reached (ECONNREFUSED)') })
    expect(refused.error).not.toContain('secret')
    expect((await readFile(file)).length).toBeGreaterThan(0)
  })
})
