import { AsyncLocalStorage } from 'node:async_hooks'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { migrations } from '../../migrations/index.ts'
import { type Database, type DialectName, openDatabase } from '../../src/platform/db/database.ts'
import { migrate } from '../../src/platform/db/migrate.ts'

/** postgres:// address of a server on which tests may create databases. Without it those tests are skipped. */
export const postgresUrl = process.env.TEST_DATABASE === 'sqlite' ? undefined : process.env.TEST_POSTGRES_URL

/**
 * Databases for `describe.each`. `skip`: this machine has no server, or a tier uses the other one (`TEST_DATABASE`). A
 * file that is run by hand uses both.
 */
export const dialects: { dialect: DialectName; skip: boolean }[] = [
  { dialect: 'sqlite', skip: process.env.TEST_DATABASE === 'postgres' },
  { dialect: 'postgres', skip: !postgresUrl },
]

export interface TestDatabase {
  readonly database: Database
  /** What another process needs to open the database. */
  readonly connection: { url?: string; file: string }
  /** Closes and removes it. */
  drop(): Promise<void>
}

/** Creates an empty, migrated database. @param upTo migrations of an older Stead, or `{}` for none */
export async function testDatabase(dialect: DialectName, upTo = migrations): Promise<TestDatabase> {
  const isUsual = upTo === migrations
  if (dialect === 'sqlite')
    return opened(await sqliteFile(isUsual ? await migratedFile() : undefined), isUsual ? {} : upTo)
  const template = isUsual ? process.env[TEMPLATE] : undefined
  return opened(await postgresDatabase(template), template ? {} : upTo)
}

interface Made {
  readonly connection: TestDatabase['connection']
  remove(): Promise<void>
}

async function opened({ connection, remove }: Made, missing: typeof migrations): Promise<TestDatabase> {
  const database = await openDatabase(connection)
  if (Object.keys(missing).length > 0) await migrate(database, missing)
  return {
    database: refusingNested(database),
    connection,
    async drop() {
      await database.close()
      await remove()
    },
  }
}

/** The transaction that this asynchronous context runs in. */
const around = new AsyncLocalStorage<{ database: Database; isOpen: boolean }>()

/** A transaction inside another fails. On SQLite, where one runs at a time, it would wait until the test times out. */
function refusingNested(database: Database): Database {
  return {
    ...database,
    transaction(work) {
      const outer = around.getStore()
      if (outer?.isOpen && outer.database === database)
        throw new Error('A transaction was started inside another: on SQLite, it would wait for its end for ever')
      return database.transaction((tx) => {
        const inner = { database, isOpen: true }
        return around.run(inner, () => work(tx).finally(() => (inner.isOpen = false)))
      })
    },
  }
}

let migrated: Promise<Buffer> | undefined
/** A new file with all migrations: created once per process, because hundreds of tests start with it. */
function migratedFile(): Promise<Buffer> {
  migrated ??= (async () => {
    const made = await sqliteFile()
    const { database } = await opened(made, migrations)
    await database.close()
    const content = await readFile(made.connection.file)
    await made.remove()
    return content
  })()
  return migrated
}

async function sqliteFile(content?: Buffer): Promise<Made> {
  const folder = await mkdtemp(join(tmpdir(), 'stead-test-'))
  const file = join(folder, 'stead.db')
  if (content) await writeFile(file, content)
  return { connection: { file }, remove: () => rm(folder, { recursive: true }) }
}

/** Variable with the name of a migrated database without connections. */
const TEMPLATE = 'TEST_POSTGRES_TEMPLATE'

/** Creates that database once per run, for Vitest. @returns a function that removes it */
export async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (!postgresUrl) return undefined
  const made = await postgresDatabase()
  const { database } = await opened(made, migrations)
  await database.close()
  process.env[TEMPLATE] = new URL(made.connection.url as string).pathname.slice(1)
  return made.remove
}

async function postgresDatabase(template?: string): Promise<Made> {
  const name = `stead_test_${process.pid}_${Math.random().toString(36).slice(2)}`
  await administer(`create database ${name}${template ? ` template ${template}` : ''}`)
  const url = new URL(postgresUrl as string)
  url.pathname = `/${name}`
  return { connection: { url: url.href, file: '' }, remove: () => administer(`drop database ${name} with (force)`) }
}

async function administer(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: postgresUrl })
  await client.connect()
  await client.query(statement)
  await client.end()
}
