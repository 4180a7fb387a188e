import { hostname } from 'node:os'
import { join } from 'node:path'
import { resolversAnswer, whyElsewhere } from '../../certificates/points-here.ts'
import type { Gateway } from '../../edge/gateway/gateway.ts'
import { createPageAsker } from '../../edge/monitor/ask-page.ts'
import { askTls } from '../../edge/monitor/ask-tls.ts'
import {
  addUptime,
  reportMonitor,
  type SiteToAsk,
  sitesToAsk,
  statesOfEdge,
  storeStates,
} from '../../edge/monitor/monitor.store.ts'
import { SiteMonitor } from '../../edge/monitor/monitor.ts'
import type { Route } from '../../edge/routing/route.ts'
import { routeChangesSince } from '../../edge/routing/routes.store.ts'
import type { RouteTable } from '../../edge/routing/routes.ts'
import type { MonitoringStateRow, UptimeDayRow } from '../../edge/tables.ts'
import { batches } from '../../platform/batches.ts'
import { lockFile, type Unlock } from '../../platform/files/lock-file.ts'
import { dayOf } from '../../platform/log-store/days.ts'
import { createComesBack } from '../../resources/certificates/comes-back.ts'
import { edgeAddresses } from '../../resources/sites/addresses/edge-addresses.ts'
import { readJoined } from '../certificates/join.ts'
import { urlOf } from '../credentials.ts'
import { reachableHost } from '../listeners.ts'
import type { ProcessContext, RunningRole } from '../process-context.ts'

/** Rows of one statement or transaction. */
const ROWS = 500
const TICK_MS = 1_000

interface Listening {
  readonly routes: RouteTable
  readonly gateway: Pick<Gateway, 'ask'>
  readonly port: number
  /** Undefined without TLS. */
  readonly tlsPort: number | undefined
}

/**
 * Asks all sites once a minute, in one of the processes of an edge. Another one continues when it ends.
 */
export async function monitorSites(context: ProcessContext, listening: Listening): Promise<RunningRole> {
  const { config, hostKey } = context
  const joined = await readJoined(config.dataDir)
  const edge = joined?.role === 'edge' ? joined.name : hostname()
  const url = urlOf({ host: reachableHost(config.edgeListen.host), port: listening.port })
  const pages = createPageAsker({ url, gateway: listening.gateway, key: hostKey })
  const monitor = new SiteMonitor({
    routes: listening.routes,
    pages,
    addressOf: addressesFor(context, listening.port),
    askTls: tlsAsker(context, listening.tlsPort),
    askDns: dnsAsker(context),
    ...recordsOf(context, edge),
    log: context.log,
  })
  let unlock: Unlock | undefined
  let isEnded = false
  const tick = async () => {
    unlock ??= await lockFile(join(config.dataDir, 'monitoring.lock'))
    if (unlock && !isEnded) await monitor.tick()
  }
  const timer = setInterval(() => {
    tick().catch((error) => context.log.warn({ err: error }, 'could not ask sites'))
  }, TICK_MS)
  return {
    async stop() {
      isEnded = true
      clearInterval(timer)
      if (unlock) await monitor.stop().catch(() => {})
      await pages.close()
      unlock?.()
    },
  }
}

/** Visitors use https for names with a certificate. */
function addressesFor({ config }: ProcessContext, port: number) {
  const tlsPort = config.edgeTlsListen === 'off' ? undefined : (config.edgeTlsPublicPort ?? config.edgeTlsListen.port)
  const scheme = config.edgePublicPort === 443 ? 'https' : 'http'
  const withPort = (hostName: string, port: number, usual: number) =>
    port === usual ? hostName : `${hostName}:${port}`
  return ({ hostName, certifiedAt }: Route) => {
    if (certifiedAt && tlsPort !== undefined)
      return { scheme: 'https', host: withPort(hostName, tlsPort, 443) } as const
    const usual = scheme === 'https' ? 443 : 80
    return { scheme, host: withPort(hostName, config.edgePublicPort ?? port, usual) } as const
  }
}

function tlsAsker({ config, hostKey }: ProcessContext, port: number | undefined) {
  if (config.edgeTlsListen === 'off' || port === undefined) return undefined
  const edge = { host: reachableHost(config.edgeTlsListen.host), port }
  return (hostName: string) => askTls(hostName, edge, hostKey)
}

/** A fault counts only if the DNS servers answer. */
function dnsAsker({ config, markHere }: ProcessContext) {
  const { resolvers } = config
  const comesBack = createComesBack({ config, markHere })
  return async (hostName: string) => {
    const fault = await whyElsewhere(hostName, { addresses: edgeAddresses(config), resolvers, comesBack })
    return fault !== undefined && (await resolversAnswer(resolvers)) ? fault : undefined
  }
}

function recordsOf({ config, database, room }: ProcessContext, edge: string) {
  let known: number | undefined
  return {
    async loadSites(): Promise<SiteToAsk[] | undefined> {
      // Every change of a site's names is one of routes.
      const { newest } = await routeChangesSince(database.read, undefined)
      if (newest === known) return undefined
      const sites = await allPages(
        (after) => sitesToAsk(database.read, after, ROWS),
        ({ siteId }) => siteId,
      )
      known = newest
      return sites
    },
    async loadStates(): Promise<ReadonlyMap<number, MonitoringStateRow>> {
      const rows = await allPages(
        (after) => statesOfEdge(database.read, edge, after, ROWS),
        ({ site_id }) => site_id,
      )
      return new Map(rows.map((row) => [row.site_id, row]))
    },
    async storeStates(rows: readonly Omit<MonitoringStateRow, 'is_new' | 'edge'>[]) {
      for (const some of batches(rows, ROWS))
        await database.transaction((tx) =>
          storeStates(
            tx,
            some.map((row) => ({ ...row, edge, detail: row.detail.slice(0, 300) })),
          ),
        )
    },
    async storeCounts(rows: readonly Omit<UptimeDayRow, 'day'>[]) {
      if (!config.databaseUrl) room.forRecords()
      const now = Date.now()
      for (const some of batches(rows, ROWS))
        await database.transaction((tx) =>
          addUptime(
            tx,
            some.map((row) => ({ ...row, day: dayOf(now) })),
          ),
        )
      await database.transaction((tx) => reportMonitor(tx, edge, now))
    },
  }
}

async function allPages<Row>(page: (after: number) => Promise<Row[]>, idOf: (row: Row) => number): Promise<Row[]> {
  const all: Row[] = []
  for (;;) {
    const last = all.at(-1)
    const rows = await page(last === undefined ? 0 : idOf(last))
    all.push(...rows)
    if (rows.length < ROWS) return all
  }
}
