import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { HomeDatabases } from '../../hosting/homes/home-databases.ts'
import type { IdentityInUse } from '../../hosting/identity/folder.ts'
import { USERS } from '../../hosting/identity/users.ts'
import type { DatabaseServer } from '../../hosting/mariadb/database-server.ts'
import { openExternalServer } from '../../hosting/mariadb/external-server.ts'
import { createHomeDatabases } from '../../hosting/mariadb/home-databases.ts'
import { prefixOf } from '../../hosting/mariadb/names.ts'
import { startOwnServer } from '../../hosting/mariadb/own-server.ts'
import { SiteDatabases } from '../../hosting/mariadb/site-databases.ts'
import { type ServerFigures, SiteWatch } from '../../hosting/mariadb/site-watch.ts'
import type { Ground } from '../part.ts'
import { isRoot } from './homes.ts'

/** The MariaDB of a host. */
export interface MariaDb {
  /** undefined: this host has none. */
  readonly databases: SiteDatabases | undefined
  /** For homes, where sites can come to it. */
  readonly ofHomes: HomeDatabases | undefined
  figures(): ServerFigures | undefined
  /** For `/readyz`. */
  facts(): object
  stop(): Promise<void>
}

/** InnoDB writes what it has in memory: 64 MB at most. */
const GRACE_MS = 60_000

/**
 * Starts this host's own server, or opens the operator's, as the settings say.
 * @throws OperatorError when there is to be one, and there is none
 */
export async function openMariaDb({ config, log }: Ground, identity: IdentityInUse): Promise<MariaDb> {
  const prefix = prefixOf(identity.installation)
  const server = await serverOf({ config, log }, identity, prefix)
  if (!server)
    return {
      databases: undefined,
      ofHomes: undefined,
      figures: () => undefined,
      facts: () => ({}),
      stop: async () => {},
    }
  log.info({ version: server.version, isOwn: server.dataFolder !== undefined }, 'MariaDB answers')
  const watch = new SiteWatch({ server, prefix, log })
  watch.start()
  const databases = new SiteDatabases(server, prefix)
  await databases.dropScratch((home) => existsSync(join(config.dataDir, 'sites', `h${home}`)))
  return {
    databases,
    ofHomes: server.socketFolder === undefined ? undefined : createHomeDatabases(databases),
    figures: () => watch.figures(),
    facts() {
      const { isUp, restarts, databases: count } = watch.figures()
      return { mariaDb: { isUp, version: server.version, databases: count, restarts } }
    },
    async stop() {
      await watch.stop()
      await server.stop(GRACE_MS)
    },
  }
}

async function serverOf(
  { config, log }: Pick<Ground, 'config' | 'log'>,
  { firstUser }: IdentityInUse,
  prefix: string,
): Promise<DatabaseServer | undefined> {
  if (config.mariadbUrl) return openExternalServer(config.mariadbUrl, prefix, join(config.dataDir, 'mariadb-way'))
  if (config.mariadb === 'off') return undefined
  // the last of the folder's own users, which no home will ever have: Debian's is that of a server that runs already, and not every machine has one
  const uid = isRoot ? firstUser + USERS - 1 : null
  return startOwnServer({ folder: join(config.dataDir, 'mariadb'), uid, log })
}
