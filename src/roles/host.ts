import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { LRUCache } from 'lru-cache'
import { hostBudgets } from '../budgets.ts'
import { recordHost } from '../edge/route-changes.store.ts'
import { createCoreLibrary } from '../hosting/core-library/core-library.ts'
import type { CoreProgress } from '../hosting/core-library/core-source.ts'
import { Cron } from '../hosting/cron/cron.ts'
import { sqliteEvents } from '../hosting/cron/sqlite-events.ts'
import { HomeFolders } from '../hosting/homes/home-folders.ts'
import { Homes } from '../hosting/homes/homes.ts'
import { createPreparation } from '../hosting/homes/preparation.ts'
import { Spares } from '../hosting/homes/spares.ts'
import {
  type HostedRecord,
  hostedSite,
  hostedSites,
  isNewestStart,
  registerHost,
  reportHost,
} from '../hosting/host.store.ts'
import { bindFolder } from '../hosting/identity/bind.ts'
import { fenced } from '../hosting/identity/faults.ts'
import { PhpPool } from '../hosting/php/pool.ts'
import { defaultPhpVersion } from '../hosting/php/runtime.ts'
import { defaultEgressLimits } from '../hosting/php/wasm/egress.ts'
import { createWasmRuntime } from '../hosting/php/wasm/start.ts'
import { PhpLogFollower } from '../hosting/php-log/follower.ts'
import { openPlaces } from '../hosting/php-log/positions.ts'
import { createSiteChanges } from '../hosting/site-changes/site-changes.ts'
import { sqliteDatabase } from '../hosting/site-database/sqlite.ts'
import { watchSites } from '../hosting/site-database/watch-sites.ts'
import { DiskWatch } from '../hosting/site-files/disk-watch.ts'
import { HeldAnswers } from '../hosting/web-server/held-answers.ts'
import { createWebServer, type HostedSite, HostStarting } from '../hosting/web-server/web-server.ts'
import { hostJobs } from '../jobs.ts'
import { type Budget, openBudgets } from '../platform/budgets/budget.ts'
import { outsideOnly } from '../platform/fetch/addresses.ts'
import { createOwnAddresses } from '../platform/fetch/own-addresses.ts'
import { keptFromSites } from '../platform/files/free-room.ts'
import { lockFile } from '../platform/files/lock-file.ts'
import { namelessFolder } from '../platform/files/nameless-file.ts'
import { removeLeftTemporaries } from '../platform/files/write-file.ts'
import { enqueue } from '../platform/operations/enqueue.ts'
import { createWorker } from '../platform/operations/worker.ts'
import { OperatorError } from '../platform/operator-error.ts'
import { purgeCaches } from '../resources/edge-cache/edge-cache.ts'
import { configureSite } from '../resources/sites/configure-site.job.ts'
import type { HostServices } from '../resources/sites/host-services.ts'
import { tellOfLostSite } from '../resources/sites/lost-site.ts'
import { findSite } from '../resources/sites/site.store.ts'
import { stagingAddress } from '../resources/sites/site.ts'
import { diskQuota, tellDiskFull } from '../resources/sites/site-disk.ts'
import { untilFree } from './free-port.ts'
import { type Ground, type Part, whereRecordsAre } from './part.ts'
import { startReporting } from './reporting.ts'

const REPORT_EVERY_MS = 2000
const MB = 1 << 20

/** A host whose supervisor died has finished what was under way after that. */
const PREDECESSOR_ENDS_MS = 40_000

/** A visitor waits so long for a host that starts; then it is told to come again. */
const SITES_KNOWN_MS = 10_000

/** The data folder is another process'. */
export class HostInUse extends OperatorError {
  override readonly name = 'HostInUse'
}

export interface HostOptions {
  readonly onProgress?: (progress: CoreProgress) => void
  /** The first preparation has come to an end. */
  readonly onPrepared?: () => void
}

/** Keeps sites, runs their PHP, and does the operations bound to them. */
export async function startHost(ground: Ground, options: HostOptions = {}): Promise<Part> {
  const { config, database, log } = ground
  const budgets = openBudgets(hostBudgets(config))
  // two hosts would run two PHP processes on one site's database, and each would clear away what the other is making
  const unlock = await lockFile(join(config.dataDir, 'host.lock'), { patienceMs: PREDECESSOR_ENDS_MS })
  if (!unlock) throw new HostInUse(`Another host process uses the data folder ${config.dataDir}`)
  await removeLeftTemporaries(config.dataDir)
  const bound = await bindFolder(config.dataDir, { database, where: whereRecordsAre(config) }, Date.now())
  const { name, identity } = bound
  const isRoot = process.getuid?.() === 0
  const spillFolder = await namelessFolder(join(config.dataDir, 'spill'))
  const hasRoom = () => ground.room.state === 'ok'
  const disk = watchDisk(ground, budgets.siteDisk)
  const isOutside = outsideOnly(createOwnAddresses(config.edgeAddresses))
  const runtime = await createWasmRuntime({
    sandbox: config.sandbox,
    programFolder: join(config.dataDir, 'php-program'),
    disk,
    memoryLimitMb: config.phpMemoryLimitMb,
    uploadMaxMb: config.uploadMaxMb,
    budgets,
    egress: { ...defaultEgressLimits, allows: (address) => config.allowPrivateFetch || isOutside(address) },
  })
  const changes = createSiteChanges({
    record: (siteId, change) => database.transaction((tx) => purgeCaches(tx, siteId, change)),
    log,
  })
  const sites = watchSites({
    database: sqliteDatabase,
    log,
    onLost(siteId, fault) {
      const loss = { siteId, fault, operatorEmail: config.accountEmail, now: Date.now() }
      database
        .transaction((tx) => tellOfLostSite(tx, loss))
        .catch((error) => log.error({ err: error, siteId }, 'nobody could be told of a lost site'))
    },
  })
  const pool = new PhpPool(sites.guard(runtime), {
    onNote: (siteId, text) => changes.take(siteId, text),
    log,
    requestMs: config.phpRequestSeconds * 1000,
    taskMs: config.phpRequestSeconds * 1000,
    idleMs: config.phpIdleSeconds * 1000,
    queueLength: config.phpQueue,
    memoryBytes: config.phpMemoryMb * MB,
    processMemoryBytes: config.phpProcessMemoryMb * MB,
    bodies: { mostBytes: config.uploadMaxMb * MB, folder: spillFolder, budgets, hasRoom },
  })
  const library = createCoreLibrary({ ...config, allowPrivate: config.allowPrivateFetch, log })
  // edges may know the address before the sites are known here: their requests wait
  const known = Promise.withResolvers<(siteId: number) => Promise<HostedSite | undefined>>()
  const hosted = async (siteId: number) => (await within(known.promise, SITES_KNOWN_MS))(siteId)
  const server = createWebServer({
    async siteById(siteId) {
      const site = await hosted(siteId)
      if (site) sites.check(site)
      return site
    },
    php: pool,
    answers: new HeldAnswers({
      memory: budgets.answerMemory,
      disk: budgets.answerDisk,
      folder: spillFolder,
      hasRoom,
      log,
    }),
    hostKey: ground.hostKey,
    log,
    mostBodyBytes: config.uploadMaxMb * MB,
    changesSettled: (siteId) => changes.settled(siteId),
  })
  await untilFree(config.hostListen, 'STEAD_HOST_LISTEN')
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(config.hostListen, resolve)
  })
  const { port } = server.address() as AddressInfo
  const address = `http://${config.hostListen.host.includes(':') ? `[${config.hostListen.host}]` : config.hostListen.host}:${port}`
  const datacenters = config.hostDatacenters.join(',')
  const { host, epoch } = identity.current
  const hostId = await database.transaction(async (tx) => {
    const id = await registerHost(tx, { name, address, datacenters, identity: host, epoch })
    // its port is another one after each start: edges that learn it from a refused connection have refused a visitor
    await recordHost(tx, id)
    return id
  })
  const folders = new HomeFolders({
    dataDir: config.dataDir,
    identity,
    isRoot,
    keepFreeBytes: keptFromSites(config.diskReserveMb << 20),
    log,
  })
  const homes = new Homes({ database, hostId, folders, identity, prepared: config.preparedSites, log })
  const spares = new Spares({ homes, pool, count: config.spareSites, phpVersion: defaultPhpVersion, log })
  await homes.reconcile(bound)
  // last: until it is there, homes without a mark are taken for what their records say
  if (bound.isTakenOver) await identity.write()
  const corePath = (version: string) => join(config.dataDir, 'cores', version)
  const site = (record: HostedRecord): HostedSite => {
    const home = homes.home({
      id: record.homeId,
      coreVersion: record.coreVersion,
      install: '',
      siteId: record.siteId,
      state: 'taken',
    })
    return {
      ...record,
      homePath: home.path,
      corePath: corePath(record.coreVersion),
      uid: home.uid,
      isNetwork: record.multisite === 1,
      hasLight404: record.light404 === 1,
    }
  }
  known.resolve(
    cachedSites(ground, async (siteId) => {
      const record = await hostedSite(database.read, hostId, siteId)
      return record && site(record)
    }),
  )
  const cron = new Cron({
    sites: async () => (await hostedSites(database.read, hostId)).map(site),
    siteById: (siteId) => hosted(siteId),
    php: pool,
    events: sqliteEvents(),
    log,
  })
  const phpLogs = new PhpLogFollower({
    running: () => pool.running(),
    all: async () => (await hostedSites(database.read, hostId)).map(site),
    store: ground.logs,
    places: openPlaces(join(config.dataDir, 'logs/php-places.db')),
    log,
  })
  const preparation = createPreparation({
    config,
    library,
    runtime,
    homes,
    spares,
    isRoot,
    log,
    onProgress: options.onProgress,
  })
  const services: HostServices = {
    ...ground,
    hostId,
    homes,
    spares,
    pool,
    template: preparation.template,
    corePath,
    hostedSite: (siteId) => hosted(siteId),
    refill: preparation.refill,
  }
  const worker = createWorker({ database, definitions: hostJobs, runner: 'host', hostId, services, log })
  const fault = Promise.withResolvers<OperatorError>()
  const report = async () => {
    const facts = {
      ...preparation.state(),
      containment: runtime.containment(),
      php: pool.stats(),
      cron: cron.stats(),
      setAsideHomes: folders.setAside,
      lostSites: sites.lost(),
    }
    const isStillOurs = await database.transaction((tx) => reportHost(tx, { hostId, epoch }, facts))
    if (!isStillOurs) fault.resolve(fenced(name))
  }
  await report()
  // a host that starts says so with its routes: its predecessor must be gone before it gives out work. On SQLite all are on one machine.
  const unsubscribe =
    database.dialect === 'sqlite'
      ? () => {}
      : database.changes.subscribe('routes', () => {
          isNewestStart(database.read, { hostId, epoch })
            .then((isOurs) => isOurs || fault.resolve(fenced(name)))
            .catch(() => {})
        })
  const reporting = setInterval(
    () => report().catch((error) => log.error({ err: error }, 'report failed')),
    REPORT_EVERY_MS,
  )
  preparation.start().finally(() => {
    options.onPrepared?.()
    report().catch(() => {})
  })
  await followAddresses(ground, hostId)
  worker.start()
  cron.start()
  phpLogs.start()
  const budgetReports = startReporting(ground, 'host', budgets)
  disk.start()
  log.info({ address, ...runtime.containment() }, 'the host listens')
  return {
    fault: fault.promise,
    async stop() {
      clearInterval(reporting)
      unsubscribe()
      await budgetReports.stop()
      const cronEnded = cron.stop()
      await worker.stop(10_000)
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeIdleConnections()
      await preparation.stop()
      await pool.stopAll(5000)
      await cronEnded
      await changes.close()
      await phpLogs.stop()
      server.closeAllConnections()
      await closed
      await disk.stop()
      await runtime.close()
      unlock()
    },
  }
}

/** Keeps sites within their disk quotas, and tells their owners. */
function watchDisk({ config, database, log }: Ground, shown: Budget): DiskWatch {
  const idOf = (homePath: string) => Number(/\/h(\d+)$/.exec(homePath)?.[1])
  // a site that cannot write may say so at each of its requests
  const told = new LRUCache<string, true>({ max: 10_000, ttl: 60_000 })
  return new DiskWatch({
    folder: config.dataDir,
    shown,
    keepFreeBytes: keptFromSites(config.diskReserveMb << 20),
    quotaOf: async (homePath) => (idOf(homePath) ? diskQuota(database, idOf(homePath), config) : undefined),
    onRefusal(homePath, why) {
      if (told.has(homePath)) return
      told.set(homePath, true)
      tellDiskFull(database, idOf(homePath), why, Date.now())
        .then((siteId) => siteId && log.warn({ siteId, why }, 'a site could not write for want of disk space'))
        .catch((error) => log.warn({ err: error, home: homePath, why }, 'a full disk could not be recorded'))
    },
    log,
  })
}

async function within<Value>(promise: Promise<Value>, timeoutMs: number): Promise<Value> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new HostStarting('the host is starting')), timeoutMs)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

/** Remembers sites until something of them changes. */
function cachedSites({ database }: Ground, load: (siteId: number) => Promise<HostedSite | undefined>) {
  const known = new Map<number, { site: HostedSite; version: number }>()
  return async (siteId: number): Promise<HostedSite | undefined> => {
    const version = database.changes.version('routes')
    const remembered = known.get(siteId)
    if (remembered && remembered.version === version) return remembered.site
    const site = await load(siteId)
    if (site && version !== undefined) known.set(siteId, { site, version })
    else known.delete(siteId)
    return site
  }
}

/** Sites whose own database says another address than the settings do now (staging domain, port of the edge). */
async function followAddresses({ config, database }: Ground, hostId: number): Promise<void> {
  for (const { siteId, address } of await hostedSites(database.read, hostId)) {
    const site = await findSite(database.read, siteId)
    if (!site || stagingAddress(site.name, config) === address) continue
    await database.transaction((tx) =>
      enqueue(tx, configureSite, { siteId }, { siteId, accountId: site.accountId, hostId }),
    )
  }
}
