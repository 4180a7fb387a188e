/** A host's own MariaDB in a temporary folder, with site directories beside it. */
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createMariaDbContent } from '../../src/hosting/mariadb/content/mariadb-content.ts'
import { bytesOf, rowsOf } from '../../src/hosting/mariadb/server/connect.ts'
import { asAdministrator, type DatabaseServer } from '../../src/hosting/mariadb/server/database-server.ts'
import { startOwnServer } from '../../src/hosting/mariadb/server/own-server.ts'
import { SiteDatabases, type SiteLimits } from '../../src/hosting/mariadb/site-databases.ts'
import type { ServerLogin } from '../../src/hosting/php/wp-config.ts'
import type { DatabaseContent, SitePlace } from '../../src/hosting/site-database/database-content.ts'
import { noLog } from '../../src/platform/log/log.ts'
import { testUid } from './site-directory.ts'

export interface OwnMariaDb {
  readonly folder: string
  readonly server: DatabaseServer
  readonly databases: SiteDatabases
  /** Of site directories without a running PHP. */
  readonly content: DatabaseContent
  /** Creates an empty site directory with this number. */
  home(number: number): Promise<SitePlace>
  /** Runs statements as a site, on one connection. @returns the rows of the last one */
  asSite(login: ServerLogin, ...statements: string[]): Promise<string[][]>
  /** Runs a statement as the administrator. @returns its rows */
  ask(sql: string): Promise<string[][]>
  stop(): Promise<void>
}

export const testPrefix = 'stead_0badcafe_'

const withoutPhp = { between: async <Result>(_siteId: number, work: () => Promise<Result>) => work() }

export async function startOwnMariaDb(limits?: SiteLimits): Promise<OwnMariaDb> {
  const folder = await mkdtemp(join(tmpdir(), 'stead-own-'))
  await chmod(folder, 0o711)
  const server = await startOwnServer({ folder: join(folder, 'mariadb'), uid: testUid, log: noLog })
  const databases = new SiteDatabases(server, testPrefix, limits)
  return {
    folder,
    server,
    databases,
    content: createMariaDbContent({ databases, pool: withoutPhp }),
    async asSite(login, ...statements) {
      const connection = await server.connect(login)
      try {
        let rows: string[][] = []
        for (const statement of statements) rows = await rowsOf(connection, bytesOf(statement))
        return rows
      } finally {
        connection.destroy()
      }
    },
    async home(number) {
      const siteDirectory = join(folder, `h${number}`)
      await mkdir(siteDirectory, { recursive: true })
      return { siteId: number, siteDirectory, uid: testUid }
    },
    ask: (sql) => asAdministrator(server, (connection) => rowsOf(connection, sql)),
    async stop() {
      await server.stop(30_000)
      await rm(folder, { recursive: true, force: true })
    },
  }
}
