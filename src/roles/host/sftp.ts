import { settings } from '../../config.ts'
import type { HostedSites } from '../../hosting/hosted-sites.ts'
import { sftpHostKey } from '../../hosting/sftp/host-key.ts'
import type { RemoteCommands } from '../../hosting/sftp/remote-commands.ts'
import { SftpServer } from '../../hosting/sftp/sftp-server.ts'
import type { DatabaseContent } from '../../hosting/site-database/database-content.ts'
import { createWpCli } from '../../hosting/wp-cli/wp-cli.ts'
import { createWpCommands } from '../../hosting/wp-cli/wp-commands.ts'
import { keptFromSites } from '../../platform/files/free-room.ts'
import { createTrust } from '../../platform/http/client/client-address.ts'
import { createSftpAccess } from '../../resources/sftp-users/sftp-access.ts'
import { createCommandAccess } from '../../resources/wp-cli/command-access.ts'
import type { ProcessContext } from '../process-context.ts'
import { CannotListen, listenAlone } from '../start/free-port.ts'
import type { MariaDb } from './mariadb.ts'
import { quotaOf } from './site-disk.ts'
import type { SitePhp } from './site-php.ts'

/** The SFTP server of a host, or none. */
export type Sftp = Pick<SftpServer, 'endOfSite' | 'metrics' | 'close'>

const nothing = { connections: 0, logins: 0, refused: { limit: 0, banned: 0, login: 0 } }
const none: Sftp = { endOfSite: async () => 0, metrics: () => nothing, async close() {} }

/** A change of everything of a site, as its own PHP would report it. */
const EVERYTHING = JSON.stringify({ changed: { all: true, files: true } })

export interface SftpParts {
  readonly hostId: number
  readonly php: Pick<SitePhp, 'changes' | 'pool'>
  readonly sites: HostedSites
  readonly siteDatabase: DatabaseContent
  readonly mariaDb: Pick<MariaDb, 'databaseBytes'>
}

/**
 * Listens for SFTP clients.
 * @throws CannotListen on an address that the operator configured
 */
export async function openSftp(context: ProcessContext, parts: SftpParts): Promise<Sftp> {
  const { hostId, php, sites } = parts
  const { config, database, log } = context
  const { sftpListen } = config
  if (sftpListen === 'off') return none
  const sftp = new SftpServer({
    hostKey: await sftpHostKey(config.dataDir),
    access: createSftpAccess({ database, hostId }),
    siteById: (siteId) => sites.find(siteId),
    quotaOf: quotaOf(context, parts.mariaDb.databaseBytes),
    commands: remoteCommands(context, parts),
    keepFreeBytes: keptFromSites(config.diskReserveMb << 20),
    changed: (siteId) => php.changes.take(siteId, EVERYTHING),
    isBalancer: createTrust(config.proxyProtocol),
    log,
  })
  try {
    await listenAlone(sftp.server, sftpListen, 'STEAD_SFTP_LISTEN')
  } catch (error) {
    await sftp.close()
    const { host, port } = sftpListen
    if (!(error instanceof CannotListen) || `${host}:${port}` !== settings.sftpListen.default) throw error
    log.warn({ reason: error.message }, 'SFTP is off because its port is in use')
    return none
  }
  const { address, port } = sftp.server.address() as { address: string; port: number }
  log.info({ address, port }, 'SFTP server is listening')
  return sftp
}

function remoteCommands(
  { config, database, log }: ProcessContext,
  { php, sites, siteDatabase }: SftpParts,
): RemoteCommands {
  const { dataDir, wpCli: file, wpCliSource: source, allowPrivateFetch } = config
  const wpCli = createWpCli({ dataDir, file, source, allowPrivate: allowPrivateFetch, log })
  const commands = createWpCommands({ wpCli, pool: php.pool, siteDatabase })
  return {
    ...createCommandAccess(database),
    async run({ siteId }, given, io, files) {
      const site = await sites.find(siteId)
      return site && !site.isClosed ? commands.run(site, given, io, files) : undefined
    },
  }
}
