import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { edgeBudgets } from '../budgets.ts'
import { accessRecord } from '../edge/access-records.ts'
import { createDisk } from '../edge/cache/disk.ts'
import { createPageCache } from '../edge/cache/page-cache.ts'
import { createPurgeFeed } from '../edge/cache/purge-feed.ts'
import { purgesSince } from '../edge/cache/purges.store.ts'
import { createBotCheck } from '../edge/challenge/bots.ts'
import { createGateway } from '../edge/gateway.ts'
import { defaultLimits } from '../edge/limits.ts'
import { saltOfDay, storeViews } from '../edge/page-views.store.ts'
import { createPageViews } from '../edge/page-views.ts'
import { loadRoute, routeChangesSince } from '../edge/routes.store.ts'
import { createRouteTable } from '../edge/routes.ts'
import { createDefensiveMode } from '../edge/rules/defensive-mode.ts'
import { edgeRules } from '../edge/rules/index.ts'
import { createUnderWay } from '../edge/under-way.ts'
import { createUpstreams } from '../edge/upstreams.ts'
import { openBudgets } from '../platform/budgets/budget.ts'
import { createLogBuffer } from '../platform/log-store/log-buffer.ts'
import { createLogIds } from '../platform/log-store/log-ids.ts'
import { edgeProcesses, listenTogether, untilFree } from './free-port.ts'
import type { Ground, Part } from './part.ts'
import { startReporting } from './reporting.ts'

const MB = 1 << 20

export interface Edge extends Part {
  readonly port: number
}

/** The gateway for all visitor traffic. */
export async function startEdge(ground: Ground): Promise<Edge> {
  const { config, database, log, logs, room, hostKey, challengeKey } = ground
  const budgets = openBudgets(edgeBudgets(config))
  const routes = createRouteTable({
    load: (hostName) => loadRoute(database.read, hostName),
    changesSince: (seq) => routeChangesSince(database.read, seq),
    onChange: (callback) => database.changes.subscribe('routes', callback),
    onError: (error) => log.warn({ err: error }, 'routes could not be read'),
  })
  const purges = createPurgeFeed({
    since: (seq) => purgesSince(database.read, seq),
    onChange: (callback) => database.changes.subscribe('purges', callback),
    onError: (error) => log.warn({ err: error }, 'purges could not be read'),
  })
  const upstreams = createUpstreams(defaultLimits.upstream)
  const underWay = createUnderWay(budgets.siteRequests, budgets.addressRequests)
  const { stagingDomain } = config
  const cacheBytes = config.edgeCacheMb * MB
  // what is known of the entries on the disk lies in memory, and is a part of what the cache may take
  const indexBytes = config.edgeCacheDiskMb > 0 ? cacheBytes / 8 : 0
  const cache = createPageCache({
    upstreams,
    hostKey,
    purges,
    memoryBytes: cacheBytes - indexBytes,
    bodies: budgets.bodies,
    underWay,
    stagingDomain,
    ...(indexBytes > 0 && {
      disk: await createDisk({
        folder: join(config.dataDir, 'edge-cache'),
        mostBytes: config.edgeCacheDiskMb * MB,
        mostIndexBytes: indexBytes,
        bodies: budgets.bodies,
        hasRoom: () => room.hasRoomForRecords,
      }),
    }),
  })
  const defensiveMode = createDefensiveMode({
    key: challengeKey,
    isKnownBot: createBotCheck(config.botCheck),
    isStoredFile: cache.holdsFile,
  })
  const accessLog = createLogBuffer({ store: logs, kind: 'server', log, budget: budgets.logEntries })
  const nextId = createLogIds()
  const pageViews = createPageViews({
    salt: (day) => saltOfDay(database, day),
    async store(counted) {
      if (!config.databaseUrl) room.forRecords()
      await database.transaction((tx) => storeViews(tx, counted))
    },
    log,
  })
  const gateway = createGateway({
    routes,
    log,
    hostKey,
    trustProxy: config.trustProxy,
    upstreams,
    underWay,
    stagingDomain,
    connections: budgets.connections,
    rules: edgeRules({ defensiveMode, cache: cache.rule }),
    reachPurge: (seq) => purges.reach(seq),
    onAccess(entry, contentType) {
      const { siteId } = entry
      if (siteId === undefined) return
      accessLog.add(accessRecord({ ...entry, siteId }, nextId()))
      pageViews.count(entry, contentType)
    },
  })
  const { server } = gateway
  if (edgeProcesses(config) > 1) await listenTogether(server, config.edgeListen, 'STEAD_EDGE_LISTEN')
  else {
    await untilFree(config.edgeListen, 'STEAD_EDGE_LISTEN')
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(config.edgeListen, resolve)
    })
  }
  const { port } = server.address() as AddressInfo
  const reporting = startReporting(ground, 'edge', budgets)
  log.info({ host: config.edgeListen.host, port }, 'the edge listens')
  return {
    port,
    async stop() {
      await gateway.close()
      await reporting.stop()
      await Promise.all([accessLog.close(), pageViews.close()])
      routes.close()
      purges.close()
      await upstreams.destroy()
      await cache.close()
    },
  }
}
