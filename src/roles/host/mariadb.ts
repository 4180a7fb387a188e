import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { mariaDbLimits } from '../../budgets.ts'
import type { IdentityInUse } from '../../hosting/identity/folder.ts'
import { USERS } from '../../hosting/identity/users.ts'
import { createDirectoryDatabases } from '../../hosting/mariadb/create-directory-databases.ts'
import { prefixOf } from '../../hosting/mariadb/database-names.ts'
import { isOnMariaDb } from '../../hosting/mariadb/on-mariadb.ts'
import { asAdministrator, type DatabaseServer } from '../../hosting/mariadb/server/database-server.ts'
import { openExternalServer } from '../../hosting/mariadb/server/external-server.ts'
import { startOwnServer } from '../../hosting/mariadb/server/own-server.ts'
import { SiteDatabases } from '../../hosting/mariadb/site-databases.ts'
import { DatabaseDiskWatch } from '../../hosting/mariadb/watch/database-disk-watch.ts'
import { ResourceWatch } from '../../hosting/mariadb/watch/resource-watch.ts'
import { type ServerMetrics, SessionWatch } from '../../hosting/mariadb/watch/site-watch.ts'
import type { DirectoryDatabases } from '../../hosting/site-directories/directory-databases.ts'
import { tellOfDatabaseServer } from '../../resources/installation/tell-of-database-server.ts'
import { diskQuota } from '../../resources/sites/wordpress/site-disk.ts'
import type { ProcessContext } from '../process-context.ts'
import { isRoot } from './site-directories.ts'
import { type DatabaseBytes, tellingOfFullDisk } from './site-disk.ts'

/** The MariaDB of a host. */
export interface MariaDb {
  /** Undefined if this host has none. */
  readonly databases: SiteDatabases | undefined
  /** For site directories, if sites can connect to it. */
  readonly ofDirectories: DirectoryDatabases | undefined
  /** Returns the space that a site directory uses on it. */
  readonly databaseBytes: DatabaseBytes
  /**
   * Starts to enforce the quotas of sites.
   * @param filesOf returns the space that the files of a site directory take
   */
  watchDisk(filesOf: (siteDirectory: string) => number): void
  metrics(): ServerMetrics | undefined
  /** Returns whether the site in this site directory has its database here, and this server does not answer. */
  isAwayFor(siteDirectory: string): Promise<boolean>
  /** Returns the facts for `/readyz`. */
  facts(): object
  stop(): Promise<void>
}

/** The time for InnoDB to write its memory, which is at most 64 MB. */
const GRACE_MS = 60_000

const noMariaDb: MariaDb = {
  databases: undefined,
  ofDirectories: undefined,
  databaseBytes: () => 0,
  watchDisk: () => {},
  metrics: () => undefined,
  isAwayFor: async () => false,
  facts: () => ({}),
  stop: async () => {},
}

/**
 * Starts this host's own server, or opens the operator's, according to the settings.
 * @throws OperatorError when one is configured but unavailable
 */
export async function openMariaDb(
  context: ProcessContext,
  identity: IdentityInUse,
  hostName: string,
): Promise<MariaDb> {
  const { config, log, room } = context
  const prefix = prefixOf(identity.installation)
  const server = await serverOf(context, identity, { prefix, hostName })
  if (!server) return noMariaDb
  const isOwn = server.dataFolder !== undefined
  if (server.isUp) log.info({ version: server.version, isOwn }, 'MariaDB answers')
  const databases = new SiteDatabases(server, prefix)
  // If the server is down, leftovers are dropped at the next start.
  if (server.isUp)
    await databases.dropScratch((directory) => existsSync(join(config.dataDir, 'sites', `h${directory}`)))
  const watch = new SessionWatch({ server, prefix, log })
  const resources = new ResourceWatch({ server, prefix, limits: mariaDbLimits, log })
  const tell = tellingOfFullDisk(context)
  let filesOf = (_siteDirectory: string) => 0
  const disk = new DatabaseDiskWatch({
    databases,
    room: isOwn ? room : undefined,
    quotaOf: async (directory) => (await diskQuota(context.database, directory, config)).bytes,
    filesOf: (directory) => filesOf(join(config.dataDir, 'sites', `h${directory}`)),
    onRefusal: tell,
    log,
  })
  watch.start()
  resources.start()
  const isAway = awayNow(server)
  return {
    databases,
    ofDirectories: server.socketFolder === undefined ? undefined : createDirectoryDatabases(databases),
    databaseBytes: (directory) => disk.bytesOf(directory),
    watchDisk(of) {
      filesOf = of
      disk.start()
    },
    metrics: () => watch.metrics(),
    isAwayFor: async (siteDirectory) => isOnMariaDb(siteDirectory) && isAway(),
    facts() {
      const { isUp, restarts, databases: count } = watch.metrics()
      const { fault, version } = server
      return { mariaDb: { isUp, fault, version, databases: count, restarts, mayWrite: disk.diskLevel } }
    },
    async stop() {
      await Promise.all([watch.stop(), resources.stop(), disk.stop()])
      await server.stop(GRACE_MS)
    },
  }
}

/** How long one answer is valid, because sites decide how often it is needed. */
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
  context: ProcessContext,
  { firstUser }: IdentityInUse,
  { prefix, hostName }: { readonly prefix: string; readonly hostName: string },
): Promise<DatabaseServer | undefined> {
  const { config, log, room } = context
  if (config.mariadbUrl) return openExternalServer(config.mariadbUrl, prefix, join(config.dataDir, 'mariadb-way'))
  if (config.mariadb === 'off') return undefined
  // The last of the folder's own users, which no site directory will ever have. Debian's user may already run a server,
  // and not every machine has it.
  const uid = isRoot ? firstUser + USERS - 1 : null
  const folder = join(config.dataDir, 'mariadb')
  return startOwnServer({ folder, uid, log, room, onFault: tellingOfFaults(context, hostName) })
}

/** The interval between mails about an outage that continues or recurs. */
const MAIL_AGAIN_MS = 6 * 3600_000

function tellingOfFaults({ database, log }: ProcessContext, host: string): (fault: string) => void {
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
