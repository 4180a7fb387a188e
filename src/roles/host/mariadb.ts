import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { mariaDbLimits } from '../../budgets.ts'
import type { HomeDatabases } from '../../hosting/homes/home-databases.ts'
import type { IdentityInUse } from '../../hosting/identity/folder.ts'
import { USERS } from '../../hosting/identity/users.ts'
import { DatabaseDiskWatch } from '../../hosting/mariadb/database-disk-watch.ts'
import { asAdministrator, type DatabaseServer } from '../../hosting/mariadb/database-server.ts'
import { openExternalServer } from '../../hosting/mariadb/external-server.ts'
import { createHomeDatabases } from '../../hosting/mariadb/home-databases.ts'
import { prefixOf } from '../../hosting/mariadb/names.ts'
import { isOnMariaDb } from '../../hosting/mariadb/on-mariadb.ts'
import { startOwnServer } from '../../hosting/mariadb/own-server.ts'
import { ResourceWatch } from '../../hosting/mariadb/resource-watch.ts'
import { SiteDatabases } from '../../hosting/mariadb/site-databases.ts'
import { type ServerFigures, SiteWatch } from '../../hosting/mariadb/site-watch.ts'
import { tellOfDatabaseServer } from '../../resources/installation/tell-of-database-server.ts'
import { diskQuota } from '../../resources/sites/site-disk.ts'
import type { Ground } from '../part.ts'
import { isRoot } from './homes.ts'
import { type DatabaseBytes, tellingOfFullDisk } from './site-disk.ts'

/** The MariaDB of a host. */
export interface MariaDb {
  /** undefined: this host has none. */
  readonly databases: SiteDatabases | undefined
  /** For homes, where sites can come to it. */
  readonly ofHomes: HomeDatabases | undefined
  /** What a home has on it. */
  readonly databaseBytes: DatabaseBytes
  /** Keeps sites to their quotas from now on. @param filesOf what the files in a home's folder take */
  watchDisk(filesOf: (homePath: string) => number): void
  figures(): ServerFigures | undefined
  /** Whether the site in this home has its database here, and this server does not answer. */
  isAwayFor(homePath: string): Promise<boolean>
  /** For `/readyz`. */
  facts(): object
  stop(): Promise<void>
}

/** InnoDB writes what it has in memory: 64 MB at most. */
const GRACE_MS = 60_000

const noMariaDb: MariaDb = {
  databases: undefined,
  ofHomes: undefined,
  databaseBytes: () => 0,
  watchDisk: () => {},
  figures: () => undefined,
  isAwayFor: async () => false,
  facts: () => ({}),
  stop: async () => {},
}

/**
 * Starts this host's own server, or opens the operator's, as the settings say.
 * @throws OperatorError when there is to be one, and there is none
 */
export async function openMariaDb(ground: Ground, identity: IdentityInUse, hostName: string): Promise<MariaDb> {
  const { config, log, room } = ground
  const prefix = prefixOf(identity.installation)
  const server = await serverOf(ground, identity, { prefix, hostName })
  if (!server) return noMariaDb
  const isOwn = server.dataFolder !== undefined
  if (server.isUp) log.info({ version: server.version, isOwn }, 'MariaDB answers')
  const databases = new SiteDatabases(server, prefix)
  // what is left when the server has no room goes at the next start
  if (server.isUp) await databases.dropScratch((home) => existsSync(join(config.dataDir, 'sites', `h${home}`)))
  const watch = new SiteWatch({ server, prefix, log })
  const resources = new ResourceWatch({ server, prefix, limits: mariaDbLimits, log })
  const tell = tellingOfFullDisk(ground)
  let filesOf = (_homePath: string) => 0
  const disk = new DatabaseDiskWatch({
    databases,
    room: isOwn ? room : undefined,
    quotaOf: async (home) => (await diskQuota(ground.database, home, config)).bytes,
    filesOf: (home) => filesOf(join(config.dataDir, 'sites', `h${home}`)),
    onRefusal: tell,
    log,
  })
  watch.start()
  resources.start()
  const isAway = awayNow(server)
  return {
    databases,
    ofHomes: server.socketFolder === undefined ? undefined : createHomeDatabases(databases),
    databaseBytes: (home) => disk.bytesOf(home),
    watchDisk(of) {
      filesOf = of
      disk.start()
    },
    figures: () => watch.figures(),
    isAwayFor: async (homePath) => isOnMariaDb(homePath) && isAway(),
    facts() {
      const { isUp, restarts, databases: count } = watch.figures()
      const { fault, version } = server
      return { mariaDb: { isUp, fault, version, databases: count, restarts, mayWrite: disk.diskLevel } }
    },
    async stop() {
      await Promise.all([watch.stop(), resources.stop(), disk.stop()])
      await server.stop(GRACE_MS)
    },
  }
}

/** One answer is good for so long: sites decide how often it is asked. */
const KNOWN_MS = 500

function awayNow(server: Pick<DatabaseServer, 'isUp' | 'connect'>): () => Promise<boolean> {
  let asked: Promise<boolean> | undefined
  return async () => {
    if (!server.isUp) return true
    if (!asked) {
      asked = asAdministrator(server, async () => false).catch(() => true)
      setTimeout(() => {
        asked = undefined
      }, KNOWN_MS).unref()
    }
    return asked
  }
}

async function serverOf(
  ground: Ground,
  { firstUser }: IdentityInUse,
  { prefix, hostName }: { readonly prefix: string; readonly hostName: string },
): Promise<DatabaseServer | undefined> {
  const { config, log, room } = ground
  if (config.mariadbUrl) return openExternalServer(config.mariadbUrl, prefix, join(config.dataDir, 'mariadb-way'))
  if (config.mariadb === 'off') return undefined
  // the last of the folder's own users, which no home will ever have: Debian's is that of a server that runs already, and not every machine has one
  const uid = isRoot ? firstUser + USERS - 1 : null
  const folder = join(config.dataDir, 'mariadb')
  return startOwnServer({ folder, uid, log, room, onFault: tellingOfFaults(ground, hostName) })
}

/** An outage that goes on, or comes again, is mailed once in so long. */
const MAIL_AGAIN_MS = 6 * 3600_000

function tellingOfFaults({ database, log }: Ground, host: string): (fault: string) => void {
  let mailedAt = Number.NEGATIVE_INFINITY
  return (fault) => {
    const now = Date.now()
    if (now - mailedAt < MAIL_AGAIN_MS) return
    mailedAt = now
    database
      .transaction((tx) => tellOfDatabaseServer(tx, { host, fault, now }))
      .catch((error) => {
        mailedAt = Number.NEGATIVE_INFINITY
        log.error({ err: error }, 'could not notify the operator that MariaDB does not start')
      })
  }
}
