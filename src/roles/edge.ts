import type { Server as SecureServer } from 'node:https'
import type { AddressInfo, Server } from 'node:net'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { edgeBudgets } from '../budgets.ts'
import type { Config, ListenAddress } from '../config.ts'
import type { PageCacheOptions } from '../edge/cache/cache.ts'
import { createPageCache, type PageCache } from '../edge/cache/page-cache.ts'
import { createPurgeFeed, type PurgeFeed } from '../edge/cache/purge/purge-feed.ts'
import { purgesSince } from '../edge/cache/purge/purges.store.ts'
import { createDisk } from '../edge/cache/store/disk.ts'
import { createBotCheck } from '../edge/challenge/bots.ts'
import { defaultLimits } from '../edge/edge-limits.ts'
import { createGateway } from '../edge/gateway/gateway.ts'
import { createInFlightLimiter } from '../edge/gateway/in-flight.ts'
import { askAlive } from '../edge/host-client/ask-alive.ts'
import { createReadiness } from '../edge/probe.ts'
import { createUpstreams } from '../edge/proxy/upstreams.ts'
import type { AccessEntry } from '../edge/records/access-log.ts'
import { accessRecord } from '../edge/records/access-records.ts'
import { createEdgeMetrics } from '../edge/records/edge-metrics.ts'
import { saltOfDay, storeViews } from '../edge/records/page-views.store.ts'
import { createPageViews } from '../edge/records/page-views.ts'
import { followRoutes } from '../edge/routing/follow-routes.ts'
import { KnownRoutes } from '../edge/routing/known-routes.ts'
import type { Route } from '../edge/routing/route.ts'
import { loadRoute, routeChangesSince } from '../edge/routing/routes.store.ts'
import { createRouteTable, type RouteTable } from '../edge/routing/routes.ts'
import { createWakeSites } from '../edge/routing/wake-sites.ts'
import { createAcmeAnswers } from '../edge/rules/acme-answers.ts'
import { createDefensiveMode } from '../edge/rules/defensive-mode.ts'
import { edgeRules } from '../edge/rules/index.ts'
import { createLeadsHere } from '../edge/rules/leads-here.ts'
import { createToHttps } from '../edge/rules/to-https.ts'
import { createSecureContexts } from '../edge/tls/secure-contexts.ts'
import { followTicketKeys } from '../edge/tls/ticket-keys.ts'
import { loadCertificate, loadChallenge } from '../edge/tls/tls.store.ts'
import type { Rule } from '../edge/visit.ts'
import { type Budget, openBudgets } from '../platform/budgets/budget.ts'
import { isAway } from '../platform/db/last-known.ts'
import { lockFile } from '../platform/files/lock-file.ts'
import { createLogBuffer } from '../platform/log-store/log-buffer.ts'
import { createLogIds } from '../platform/log-store/log-ids.ts'
import { createPartMetrics } from '../platform/metrics/part-metrics.ts'
import { ownNames } from '../resources/certificates/own-names.ts'
import { certificatesOf, isOpened, keyOpener } from './certificates/edge-certificates.ts'
import { openIdentityOf, type RoleIdentity } from './certificates/role-certificate.ts'
import { monitorSites } from './edge/monitor-sites.ts'
import { knownRoutesFile } from './known/knows-sites.ts'
import type { ProcessContext, RunningRole } from './process-context.ts'
import { startReporting } from './reporting.ts'
import { edgeProcesses, listenAlone, listenTogether } from './start/free-port.ts'

const MB = 1 << 20

export interface Edge extends RunningRole {
  readonly port: number
  /** Undefined without TLS. */
  readonly tlsPort: number | undefined
}

/**
 * Before it collects garbage, V8 lets its heap grow by as much as is in use, or more. With a cache of 16 MB, the texts
 * of long addresses and heads would then take 80 MB more, whatever is counted.
 */
const HEAP_GROWTH = '--heap-growing-percent=50'

/** Starts the gateway for all visitor traffic. */
export async function startEdge(context: ProcessContext): Promise<Edge> {
  const { config, log, hostKey, challengeKey } = context
  const { stagingDomain } = config
  const budgets = openBudgets(edgeBudgets(config))
  const { routes, known, close: closeRoutes } = openRoutes(context)
  const purges = followPurges(context)
  const { identity, upstreams, close: closeUpstreams } = await openUpstreams(context)
  const { bodies, diskBodies, siteRequests, addressRequests, passing } = budgets
  const inFlight = createInFlightLimiter({ bySite: siteRequests, byAddress: addressRequests, passing })
  const cache = await openCache(context, { upstreams, purges, bodies, inFlight }, diskBodies)
  const defensiveMode = createDefensiveMode({
    key: challengeKey,
    isKnownBot: createBotCheck(config.botCheck),
    isStoredFile: cache.holdsFile,
  })
  const own = createPartMetrics('edge', { budgets, room: context.room })
  const counts = createEdgeMetrics(own.registry, () => cache.stats())
  const records = keepRecords(context, budgets.logEntries)
  const wake = createWakeSites({
    upstreams,
    hostKey,
    holdsFrontPage: (route) => cache.holdsPage(route, `${route.hostName}${portOf(context)}`, '/'),
  })
  const secure = await openSecure(context, { routes, known, identity, onVisitor: wake })
  const gateway = createGateway({
    routes,
    log,
    hostKey,
    trustProxy: config.trustProxy,
    proxyProtocol: config.proxyProtocol,
    publicScheme: config.edgePublicPort === 443 ? 'https' : 'http',
    upstreams,
    inFlight,
    waitingBodies: budgets.waitingBodies,
    stagingDomain,
    connections: budgets.connections,
    ...(secure && { secureContexts: secure.contexts }),
    rules: edgeRules({
      acmeAnswers: acmeAnswersOf(context, routes),
      leadsHere: createLeadsHere(context.markHere),
      ...(secure && { toHttps: createToHttps(secure.publicPort) }),
      ...{ defensiveMode, cache: cache.rule },
    }),
    isReady: createReadiness(() => findsSites(context, known)),
    reachPurge: (seq) => purges.reach(seq),
    metrics: counts.metrics,
    onAccess(entry, contentType) {
      counts.count(entry)
      records.onAccess(entry, contentType)
    },
  })
  const port = await listenToVisitors(gateway.server, config, config.edgeListen, 'STEAD_EDGE_LISTEN')
  const tlsPort = secure && (await secure.listen(gateway.secureServer as SecureServer))
  const reporting = startReporting(context, own, identity)
  const monitoring = await monitorSites(context, { routes, gateway, port, tlsPort })
  log.info({ host: config.edgeListen.host, port }, 'edge is listening')
  if (secure) log.info({ host: secure.host, port: tlsPort }, 'edge is listening for TLS')
  return {
    port,
    tlsPort,
    async stop() {
      await monitoring.stop()
      await gateway.close()
      secure?.close()
      await reporting.stop()
      await records.stop()
      closeRoutes()
      purges.close()
      await closeUpstreams()
      await cache.close()
    },
  }
}

/** Opens the connections to hosts, and the certificate that those on other machines require. */
async function openUpstreams(context: ProcessContext) {
  const identity = await openIdentityOf(context, 'edge')
  const upstreams = createUpstreams(defaultLimits.upstream, askAlive, identity?.trust)
  const close = async () => {
    await upstreams.destroy()
    identity?.close()
  }
  return { identity, upstreams, close }
}

/** Returns the port that visitors write after a host name, over TLS. */
function portOf({ config: { edgeTlsListen, edgeTlsPublicPort } }: ProcessContext): string {
  const port = edgeTlsPublicPort ?? (edgeTlsListen === 'off' ? 443 : edgeTlsListen.port)
  return port === 443 ? '' : `:${port}`
}

/**
 * Returns the rule that answers ACME challenges. Names of the installation itself have no route: they are few, and
 * needed when a certificate is ordered.
 */
function acmeAnswersOf({ config, database }: ProcessContext, routes: RouteTable): Rule {
  const names = new Set(ownNames(config))
  const reach = async (hostName: string) => {
    await routes.refresh()
    return routes.find(hostName)
  }
  return createAcmeAnswers(reach, (hostName) =>
    names.has(hostName) ? loadChallenge(database.read, hostName) : undefined,
  )
}

/** @returns undefined on SQLite, which is never away without this process */
function openKnownRoutes(context: ProcessContext) {
  const { config, database, sealer, log, hasOwnLogin } = context
  if (!config.databaseUrl) return undefined
  const routes = new KnownRoutes({ file: knownRoutesFile(config), sealer, log })
  const keyOf = keyOpener(context, hasOwnLogin)
  const following = followRoutes({
    known: routes,
    changes: database.changes,
    lock: () => lockFile(join(config.dataDir, 'known-routes.lock')),
    changesSince: (seq) => routeChangesSince(database.read, seq),
    load: (hostName) => loadRoute(database.read, hostName),
    async loadCertificate(hostName) {
      const kept = await loadCertificate(database.read, hostName)
      // The next visitor has a control seal the key of one that an earlier version has stored.
      return kept && isOpened(() => keyOf(hostName, kept)) ? kept : routes.certificate(hostName)
    },
  })
  return {
    routes,
    close() {
      following.close()
      routes.close()
    },
  }
}

/** Rejects unless the edge can look up sites, or knows some. */
async function findsSites({ config, database }: ProcessContext, known: KnownRoutes | undefined): Promise<void> {
  await loadRoute(database.read, config.stagingDomain).catch((error) => {
    if (!known?.hasRoutes) throw error
  })
}

/** Opens the routes that this process knows, and those on the disk. */
function openRoutes(context: ProcessContext) {
  const { database, log } = context
  const known = openKnownRoutes(context)
  const routes = createRouteTable({
    async load(hostName) {
      const route = await loadRoute(database.read, hostName)
      if (route) known?.routes.want(route)
      return route
    },
    changesSince: (seq) => routeChangesSince(database.read, seq),
    onChange: (callback) => database.changes.subscribe('routes', callback),
    onError: (error) => log.warn({ err: error }, 'could not read routes'),
    ...(known && { lastKnown: (hostName: string) => known.routes.find(hostName) }),
  })
  const close = () => {
    routes.close()
    known?.close()
  }
  return { routes, known: known?.routes, close }
}

const followPurges = ({ database, log }: ProcessContext): PurgeFeed =>
  createPurgeFeed({
    since: (seq) => purgesSince(database.read, seq),
    onChange: (callback) => database.changes.subscribe('purges', callback),
    onError: (error) => log.warn({ err: error }, 'could not read purges'),
  })

type CacheParts = Pick<PageCacheOptions, 'upstreams' | 'purges' | 'inFlight' | 'bodies'>

/** Opens the cache, in memory and, if configured, on the disk. */
async function openCache(
  { config, room, hostKey }: ProcessContext,
  parts: CacheParts,
  diskBodies: Budget,
): Promise<PageCache> {
  setFlagsFromString(HEAP_GROWTH)
  const cacheBytes = config.edgeCacheMb * MB
  // The index of the entries on the disk, and those being written, are in memory: they count as parts of the cache.
  const indexBytes = config.edgeCacheDiskMb > 0 ? cacheBytes / 8 : 0
  const forDisk = indexBytes > 0 ? indexBytes + diskBodies.terms.all : 0
  return createPageCache({
    ...parts,
    hostKey,
    memoryBytes: cacheBytes - forDisk,
    stagingDomain: config.stagingDomain,
    ...(indexBytes > 0 && {
      disk: await createDisk({
        folder: join(config.dataDir, 'edge-cache'),
        mostBytes: config.edgeCacheDiskMb * MB,
        mostIndexBytes: indexBytes,
        bodies: diskBodies,
        hasRoom: () => room.hasRoomForRecords,
      }),
    }),
  })
}

/** Opens the records of visits to sites: the access log, and page views for the statistics. */
function keepRecords({ config, database, log, logs, room }: ProcessContext, logEntries: Budget) {
  const accessLog = createLogBuffer({ store: logs, kind: 'server', log, budget: logEntries })
  const nextId = createLogIds()
  const pageViews = createPageViews({
    salt: (day) => saltOfDay(database, day),
    async store(counted) {
      if (!config.databaseUrl) room.forRecords()
      await database.transaction((tx) => storeViews(tx, counted))
    },
    log,
  })
  return {
    onAccess(entry: AccessEntry, contentType: string): void {
      const { siteId } = entry
      if (siteId === undefined) return
      accessLog.add(accessRecord({ ...entry, siteId }, nextId()))
      pageViews.count(entry, contentType)
    },
    async stop(): Promise<void> {
      await Promise.all([accessLog.close(), pageViews.close()])
    },
  }
}

interface SecureParts {
  readonly routes: RouteTable
  readonly known: KnownRoutes | undefined
  readonly identity: RoleIdentity | undefined
  readonly onVisitor: (route: Route) => void
}

/**
 * Opens the parts that TLS connections need.
 * @returns undefined when TLS is off
 */
async function openSecure(context: ProcessContext, { identity, known, ...following }: SecureParts) {
  const { config, database, edgeSealer, log, hasOwnLogin } = context
  const address = config.edgeTlsListen
  if (address === 'off') return undefined
  const ask = (what: string) => async (hostName: string) => {
    await identity?.ask(`POST /internal/${what}`, { host_name: hostName })
  }
  const control = { issue: ask('local-certificate'), seal: ask('certificate-key') }
  const certificates = certificatesOf(context, { known, ...(hasOwnLogin && { control }) })
  const contexts = createSecureContexts({ ...following, ...certificates })
  let server: SecureServer | undefined
  let current: Buffer | undefined
  const tickets = followTicketKeys({
    database,
    sealer: edgeSealer,
    use(keys) {
      current = keys
      server?.setTicketKeys(keys)
    },
    onError: (error) => log.warn({ err: error }, 'could not read the session ticket key'),
  })
  // Without it, connections cannot resume an earlier session, and start a new one.
  await tickets.look().catch((error) => {
    if (!isAway(error)) throw error
  })
  return {
    contexts,
    host: address.host,
    publicPort: config.edgeTlsPublicPort ?? address.port,
    listen(secureServer: SecureServer) {
      server = secureServer
      if (current) server.setTicketKeys(current)
      return listenToVisitors(server, config, address, 'STEAD_EDGE_TLS_LISTEN')
    },
    close: tickets.close,
  }
}

/**
 * Listens alone on its port, or as one of several processes.
 * @returns the port
 * @throws CannotListen
 */
async function listenToVisitors(
  server: Server,
  config: Config,
  address: ListenAddress,
  variable: string,
): Promise<number> {
  const listen = edgeProcesses(config) > 1 ? listenTogether : listenAlone
  await listen(server, address, variable)
  return (server.address() as AddressInfo).port
}
