/** A site on each available kind of database, so that one set of tests covers them all. */
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createMariaDbContent } from '../../src/hosting/mariadb/content/mariadb-content.ts'
import { bytesOf } from '../../src/hosting/mariadb/server/connect.ts'
import type { DatabaseContent, SitePlace } from '../../src/hosting/site-database/database-content.ts'
import { createSqliteContent } from '../../src/hosting/site-database/sqlite-content.ts'
import { hasMariaDb } from './mariadb.ts'
import { startOwnMariaDb } from './own-mariadb.ts'
import { giveToSite, testUid } from './site-directory.ts'

export interface ContentStand {
  readonly content: DatabaseContent
  /** Whether each hold of the site had to end its process. */
  readonly held: boolean[]
  /** A site directory with an empty database. */
  fresh(): Promise<SitePlace>
  /** Runs SQL that all kinds know, as the site would. @returns rows as text */
  run(directory: SitePlace, sql: string): Promise<(string | null)[][]>
  /** What exists beside the database in use. */
  left(directory: SitePlace): Promise<string[]>
  stop(): Promise<void>
}

function holding() {
  const held: boolean[] = []
  const pool = {
    async between<Result>(_siteId: number, work: () => Promise<Result>, { endsProcess = false } = {}) {
      held.push(endsProcess)
      return work()
    },
  }
  return { held, pool }
}

async function sqliteStand(): Promise<ContentStand> {
  const folder = await mkdtemp(join(tmpdir(), 'stead-content-'))
  const { held, pool } = holding()
  let siteDirectories = 0
  return {
    held,
    content: createSqliteContent({ pool, sandbox: 'auto' }),
    async fresh() {
      const siteDirectory = join(folder, `h${++siteDirectories}`)
      await mkdir(join(siteDirectory, 'private/database'), { recursive: true })
      await giveToSite(siteDirectory)
      return { siteId: siteDirectories, siteDirectory, uid: testUid }
    },
    async run({ siteDirectory }, sql) {
      const database = new DatabaseSync(join(siteDirectory, 'private/database/site.sqlite'))
      try {
        const rows = database.prepare(sql).all()
        return rows.map((row) => Object.values(row).map((value) => (value === null ? null : String(value))))
      } finally {
        database.close()
      }
    },
    left: ({ siteDirectory }) => readdir(join(siteDirectory, 'database')).catch(() => []),
    stop: () => rm(folder, { recursive: true, force: true }),
  }
}

async function mariaDbStand(): Promise<ContentStand> {
  const maria = await startOwnMariaDb()
  const { databases, server } = maria
  const { held, pool } = holding()
  let siteDirectories = 0
  return {
    held,
    content: createMariaDbContent({ databases, pool }),
    async fresh() {
      const directory = await maria.home(++siteDirectories)
      await databases.create(directory)
      return directory
    },
    async run(directory, sql) {
      const { user, password, database } = await databases.create(directory)
      const connection = await server.connect({ user, password, database })
      try {
        const [rows] = await connection.query(bytesOf(sql))
        if (!Array.isArray(rows)) return []
        return (rows as unknown[][]).map((row) => row.map((value) => (value === null ? null : String(value))))
      } finally {
        connection.destroy()
      }
    },
    async left(directory) {
      const { current } = databases.namesOf(directory)
      const names = await maria.ask(
        `select schema_name from information_schema.schemata where schema_name like '${current.replaceAll('_', '\\_')}\\_%'`,
      )
      return names.map(([name]) => name as string)
    },
    stop: () => maria.stop(),
  }
}

export const contentKinds = [
  { kind: 'SQLite', isHere: true, makes: sqliteStand },
  { kind: 'MariaDB', isHere: hasMariaDb, makes: mariaDbStand },
] as const
