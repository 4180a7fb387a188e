/** A host's own MariaDB in a folder of a test's, with a home or more beside it. */
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rowsOf } from '../../src/hosting/mariadb/connect.ts'
import { asAdministrator, type DatabaseServer } from '../../src/hosting/mariadb/database-server.ts'
import { startOwnServer } from '../../src/hosting/mariadb/own-server.ts'
import { SiteDatabases, type SiteLimits } from '../../src/hosting/mariadb/site-databases.ts'
import type { SiteHome } from '../../src/hosting/site-database/database-content.ts'
import { noLog } from '../../src/platform/log/log.ts'
import { testUid } from './home.ts'

export interface OwnMariaDb {
  readonly folder: string
  readonly server: DatabaseServer
  readonly databases: SiteDatabases
  /** A home of this number, with nothing in it. */
  home(number: number): Promise<SiteHome>
  /** Answers of one statement of the administrator. */
  ask(sql: string): Promise<string[][]>
  stop(): Promise<void>
}

export const testPrefix = 'stead_0badcafe_'

export async function startOwnMariaDb(limits?: SiteLimits): Promise<OwnMariaDb> {
  const folder = await mkdtemp(join(tmpdir(), 'stead-own-'))
  await chmod(folder, 0o711)
  const server = await startOwnServer({ folder: join(folder, 'mariadb'), uid: testUid, log: noLog })
  return {
    folder,
    server,
    databases: new SiteDatabases(server, testPrefix, limits),
    async home(number) {
      const homePath = join(folder, `h${number}`)
      await mkdir(homePath, { recursive: true })
      return { siteId: number, homePath, uid: testUid }
    },
    ask: (sql) => asAdministrator(server, (connection) => rowsOf(connection, sql)),
    async stop() {
      await server.stop(30_000)
      await rm(folder, { recursive: true, force: true })
    },
  }
}
