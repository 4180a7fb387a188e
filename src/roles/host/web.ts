import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ListenAddress } from '../../config.ts'
import type { HostedSites } from '../../hosting/hosted-sites.ts'
import type { Htaccess } from '../../hosting/htaccess/htaccess.ts'
import { HeldAnswers } from '../../hosting/web-server/held-answers.ts'
import { createWebServer } from '../../hosting/web-server/web-server.ts'
import { createDatabaseAdmin } from '../../resources/database-admin/enter.ts'
import { openUploads } from '../../resources/imports/staging.ts'
import { redeemLoginLink } from '../../resources/login-links/redeem-login-link.ts'
import { httpsPort } from '../../resources/sites/site.ts'
import type { RoleIdentity } from '../certificates/role-certificate.ts'
import type { ProcessContext } from '../process-context.ts'
import { listenAlone } from '../start/free-port.ts'
import { announcedAddress } from './announced-address.ts'
import { openHtaccess } from './htaccess.ts'
import type { MariaDb } from './mariadb.ts'
import type { HostBudgets, SitePhp } from './site-php.ts'
import type { Spill } from './take-data-folder.ts'
import { openHostIdentity, openWalls } from './walls.ts'

const MB = 1 << 20

export interface WebParts {
  readonly budgets: HostBudgets
  readonly spill: Spill
  readonly php: SitePhp
  readonly sites: HostedSites
  readonly mariaDb: Pick<MariaDb, 'isAwayFor'>
  /** The name of this host. */
  readonly name: string
  /** The port that edges know, for a start while the database cannot tell them another one. */
  readonly knownPort?: number | undefined
}

/** The listening web server of a host. It ends in two steps, between which PHP finishes what visitors wait for. */
export interface Web {
  /** `http://address:port` for edges, or `https://name@address:port` for those on other machines. */
  readonly address: string
  readonly port: number
  /** The certificate of the host, if it needs one. */
  readonly identity: RoleIdentity | undefined
  /** Accepts no further connections, and closes those without a request in flight. */
  close(): void
  /** Closes the remaining connections. */
  end(): Promise<void>
}

/**
 * Starts to answer edges. Requests for a site wait until the sites are open.
 * @throws CannotListen, OperatorError without an address for edges
 */
export async function listenToEdges(context: ProcessContext, parts: WebParts): Promise<Web> {
  const { hostListen } = context.config
  const identity = await openHostIdentity(context, parts.name)
  const walls = await openWalls(context, identity, parts.name)
  const htaccess = openHtaccess(context, parts.php.changes)
  const server = webServer(context, parts, htaccess)
  walls?.guard(server)
  const closed = new Promise<void>((resolve) => server.once('close', resolve))
  await listen(server, hostListen, parts.knownPort)
  htaccess.folders.start()
  const { port } = server.address() as AddressInfo
  return {
    port,
    identity,
    address: walls ? walls.address(port) : await announcedAddress(context.config, port),
    close() {
      htaccess.folders.stop()
      server.close()
      server.closeIdleConnections()
    },
    async end() {
      server.closeAllConnections()
      walls?.end()
      identity?.close()
      await closed
    },
  }
}

async function listen(server: Server, address: ListenAddress, knownPort: number | undefined): Promise<void> {
  const wanted = address.port === 0 && knownPort ? { ...address, port: knownPort } : address
  await listenAlone(server, wanted, 'STEAD_HOST_LISTEN').catch((error) => {
    if (wanted === address) throw error
    // Another program has the port. Edges find this host when the database is back.
    return listenAlone(server, address, 'STEAD_HOST_LISTEN')
  })
}

const webServer = (
  { config, hostKey, database, log }: ProcessContext,
  { budgets, spill, php, sites, mariaDb }: WebParts,
  htaccess: Htaccess,
): Server =>
  createWebServer({
    async siteById(siteId, place) {
      const site = await sites.serve(siteId, place)
      if (site) php.watch.check(site)
      return site
    },
    php: php.pool,
    answers: new HeldAnswers({ memory: budgets.answerMemory, disk: budgets.answerDisk, ...spill, log }),
    firstPages: php.firstPages,
    servedFiles: php.servedFiles,
    hostKey,
    log,
    directoryOfSender: (peer) => php.edge?.directoryOf(peer),
    logIn: (site, visit) => redeemLoginLink({ database, pool: php.pool, log }, site, visit),
    databaseAdmin: php.hasDatabaseAdmin ? createDatabaseAdmin({ database }) : undefined,
    httpsPort: httpsPort(config),
    mostBodyBytes: config.uploadMaxMb * MB,
    isDatabaseAway: ({ siteDirectory }) => mariaDb.isAwayFor(siteDirectory),
    htaccess,
    changesSettled: (siteId) => php.changes.settled(siteId),
    uploads: openUploads(config),
  })
