import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { migrations } from '../../migrations/index.ts'
import { type Database, type DialectName, openDatabase } from '../../src/platform/db/database.ts'
import { migrate } from '../../src/platform/db/migrate.ts'

/** postgres:// address of a server on which tests may create databases; without it those tests are listed as skipped. */
export const postgresUrl = process.env.TEST_POSTGRES_URL

/** The databases that tests run on, for `describe.each`; `skip` where this machine has no server. */
export const dialects: { dialect: DialectName; skip: boolean }[] = [
  { dialect: 'sqlite', skip: false },
  { dialect: 'postgres', skip: !postgresUrl },
]

export interface TestDatabase {
  readonly database: Database
  /** What another process would open. */
  readonly connection: { url?: string; file: string }
  /** Closes and removes it. */
  drop(): Promise<void>
}

/** A new, empty, migrated database of its own. @param upTo migrations of an older Stead; none: `{}` */
export async function testDatabase(dialect: DialectName, upTo = migrations): Promise<TestDatabase> {
  const made = dialect === 'sqlite' ? await sqliteFile() : await postgresDatabase()
  const database = await openDatabase(made.connection)
  if (Object.keys(upTo).length > 0) await migrate(database, upTo)
  return {
    database,
    connection: made.connection,
    async drop() {
      await database.close()
      await made.remove()
    },
  }
}

async function sqliteFile() {
  const folder = await mkdtemp(join(tmpdir(), 'stead-test-'))
  const connection: TestDatabase['connection'] = { file: join(folder, 'stead.db') }
  return { connection, remove: () => rm(folder, { recursive: true }) }
}

async function postgresDatabase() {
  const name = `stead_test_${process.pid}_${Math.random().toString(36).slice(2)}`
  await administer(`create database ${name}`)
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
