import { join } from 'node:path'
import type { hostBudgets } from '../../budgets.ts'
import { purgesSince } from '../../edge/cache/purge/purges.store.ts'
import { findAdminer } from '../../hosting/adminer/adminer.ts'
import { installedTables } from '../../hosting/cron/installed-tables.ts'
import { isSiteName } from '../../hosting/host.store.ts'
import { anyDatabase } from '../../hosting/mariadb/content-by-directory.ts'
import { isOnMariaDb } from '../../hosting/mariadb/on-mariadb.ts'
import { chooseRuntime } from '../../hosting/php/choose-runtime.ts'
import {
  createHairpinRoute,
  type EdgeListener,
  type HairpinRoute,
  OWN_HTTPS_PORT,
} from '../../hosting/php/hairpin-route.ts'
import { defaultFpmLimits } from '../../hosting/php/native/fpm-settings.ts'
import type { NativeDatabases } from '../../hosting/php/native/start.ts'
import { PhpPool, type PooledSite } from '../../hosting/php/pool/pool.ts'
import { type PhpRuntime, type PhpSite, PhpUnavailable } from '../../hosting/php/runtime.ts'
import { defaultEgressLimits } from '../../hosting/php/wasm/network/egress.ts'
import { databaseConstantsOf } from '../../hosting/php/wp-config.ts'
import { sayInPhpLog } from '../../hosting/php-log/say.ts'
import { createRecoveryLinks } from '../../hosting/recovery-links/recovery-links.ts'
import { createSiteChanges, type SiteChanges } from '../../hosting/site-changes/site-changes.ts'
import { type SiteWatch, watchSites } from '../../hosting/site-database/watch-sites.ts'
import { compiledOf } from '../../hosting/site-directories/template.ts'
import type { DiskWatch } from '../../hosting/site-files/disk-watch.ts'
import { type KeptSite, PlatformKeeper } from '../../hosting/site-files/platform/keep-platform.ts'
import type { SiteMail } from '../../hosting/site-mail/site-mail.ts'
import { FirstPages } from '../../hosting/web-server/first-pages.ts'
import { ServedFiles } from '../../hosting/web-server/served-files.ts'
import type { Budgets } from '../../platform/budgets/budget.ts'
import { outsideOnly } from '../../platform/fetch/addresses.ts'
import { createOwnAddresses } from '../../platform/fetch/own-addresses.ts'
import { OperatorError } from '../../platform/operator-error.ts'
import { lookAtShop } from '../../resources/plugins/list-plugins.job.ts'
import { listSoon } from '../../resources/plugins/plugin.store.ts'
import { networkConstants } from '../../resources/sites/network/network.ts'
import { tellOfLostSite } from '../../resources/sites/remove/lost-site.ts'
import { findSite } from '../../resources/sites/site.store.ts'
import { httpsPort, siteConstants } from '../../resources/sites/site.ts'
import { purgeCaches } from '../../resources/sites/switches/purge.store.ts'
import { tellOfRecovery } from '../../resources/sites/switches/recovery-mail.ts'
import { reachableHost } from '../listeners.ts'
import type { ProcessContext } from '../process-context.ts'
import { followFirstSite } from './first-site.ts'
import { openMail } from './mail.ts'
import type { MariaDb } from './mariadb.ts'
import { watchDisk } from './site-disk.ts'
import type { Spill } from './take-data-folder.ts'

const MB = 1 << 20

export type HostBudgets = Budgets<keyof ReturnType<typeof hostBudgets>>

/** The runtime of this host's PHP, and the services around it. */
export interface SitePhp {
  readonly runtime: PhpRuntime
  readonly pool: PhpPool
  /** Not started yet. */
  readonly disk: DiskWatch
  /** Adds a listener for everything that sites report while they work. */
  readonly hear: (listener: (siteId: number, text: string) => void) => void
  /** Files that edges cache, and PHP may write. */
  readonly servedFiles: ServedFiles
  /** Changes that sites report. */
  readonly changes: SiteChanges
  /** Mails that sites write. */
  readonly mail: SiteMail
  /** Tracks which sites are lost. */
  readonly watch: SiteWatch
  /** The route by which sites reach sites, when the edge is on this machine. */
  readonly edge: HairpinRoute | undefined
  /** For the first visitors of new sites. */
  readonly firstPages: FirstPages
  /** Whether Adminer is available. */
  readonly hasDatabaseAdmin: boolean
}

/** Assembles everything that PHP needs. No PHP process runs before the first request for one. */
export async function openSitePhp(
  context: ProcessContext,
  budgets: HostBudgets,
  { spill, hasEdge, mariaDb }: { readonly spill: Spill; readonly hasEdge: boolean; readonly mariaDb: MariaDb },
): Promise<SitePhp> {
  const { config, database, log } = context
  const disk = watchDisk(context, budgets.siteDisk, mariaDb.databaseBytes)
  mariaDb.watchDisk((siteDirectory) => disk.bytesOf(siteDirectory))
  const edge = hasEdge ? hairpinRoute(context) : undefined
  const adminer = await openAdminer(context)
  const isLowPriority = await followFirstSite(context)
  const runtime = await openRuntime(context, { budgets, disk, edge, adminer, mariaDb, isLowPriority })
  const changes = createSiteChanges({
    record: (siteId, change) =>
      database.transaction(async (tx) => {
        if (change.shop) await lookAtShop(tx, siteId, Date.now())
        else if (change.extensions) await listSoon(tx, siteId)
        return purgeCaches(tx, siteId, change)
      }),
    log,
  })
  const takeRecoveryLink = createRecoveryLinks({
    record: (siteId, link) => database.transaction((tx) => tellOfRecovery(tx, siteId, link, Date.now())),
    log,
  })
  const servedFiles = new ServedFiles({
    onChanged: (siteId, paths) =>
      changes.take(siteId, JSON.stringify({ changed: paths === 'all' ? { files: true } : { filePaths: paths } })),
  })
  const mail = await openMail(context, budgets)
  const watch = watchForLostSites(context)
  const listeners: ((siteId: number, text: string) => void)[] = []
  const kept = keepPlatform(context, mariaDb, runtime)
  const pool = new PhpPool(watch.guard(kept.runtime), {
    onNote(siteId, text) {
      if (text === MEND_CONFIG)
        for (const each of pool.running()) if (each.siteId === siteId) kept.keeper.distrustConfig(each.siteDirectory)
      // Before its next page. The current job still finishes.
      if (text === MEND || text === MEND_CONFIG)
        void pool.restart(siteId).catch((err) => log.warn({ err, siteId }, 'PHP was not restarted'))
      for (const hear of listeners) hear(siteId, text)
      changes.take(siteId, text)
      takeRecoveryLink(siteId, text)
    },
    onAsk: (siteId, text) => mail.ask(siteId, text),
    onCutOff(site, { method, path }, { message }) {
      const asked = `${method} ${path.split('?', 1)[0]}`
      sayInPhpLog(site, `${asked} was stopped: ${message}. It may be half done.`).catch((err) =>
        log.warn({ err, siteId: site.siteId }, 'the PHP log of a site was not written'),
      )
    },
    onWorked: (siteId, kind) => servedFiles.mayHaveChanged(siteId, kind),
    log,
    requestMs: config.phpRequestSeconds * 1000,
    taskMs: config.phpRequestSeconds * 1000,
    idleMs: config.phpIdleSeconds * 1000,
    readySites: config.phpReadySites,
    queueLength: config.phpQueue,
    memoryBytes: config.phpMemoryMb * MB,
    processMemoryBytes: config.phpProcessMemoryMb * MB,
    places: budgets.phpPlaces,
    bodies: { mostBytes: config.uploadMaxMb * MB, budgets, ...spill },
  })
  const firstPages = new FirstPages(async () => (await purgesSince(database.read, undefined)).newest)
  const hear: SitePhp['hear'] = (listener) => void listeners.push(listener)
  return {
    runtime,
    pool,
    disk,
    hear,
    servedFiles,
    changes,
    mail,
    watch,
    edge,
    firstPages,
    hasDatabaseAdmin: adminer !== undefined,
  }
}

/** The message of a site's PHP when it lacks a file that only the host can restore (`tasks/prepend.php`). */
const MEND = '{"mend":true}'
const MEND_CONFIG = '{"mend":"config"}'

/**
 * Makes sure that each start of a site's PHP finds the files to reach its database. A site that cannot be repaired
 * starts as it is.
 */
function keepPlatform(
  { config, log, database }: ProcessContext,
  { databases }: MariaDb,
  runtime: PhpRuntime,
): { readonly runtime: PhpRuntime; readonly keeper: PlatformKeeper } {
  const keeper = new PlatformKeeper({
    folder: join(config.dataDir, 'templates', '.platform'),
    isOnServer: isOnMariaDb,
    constants: async (siteDirectory) =>
      databaseConstantsOf(isOnMariaDb(siteDirectory) ? await databases?.loginOf({ siteDirectory }) : undefined),
    async installed(site) {
      const { prefixes, network } = await installedTables(site.siteDirectory, databases)
      const { siteId } = site as KeptSite & Partial<PooledSite>
      const record = siteId === undefined ? undefined : await findSite(database.read, siteId)
      const ofNetwork = record?.hasMultisite && network ? networkConstants(network, network.domain) : {}
      return { prefixes, constants: { ...(record && siteConstants(record)), ...ofNetwork } }
    },
  })
  const mend = async (site: PhpSite) => {
    try {
      for (const what of await keeper.mend(site)) await sayInPhpLog(site, what)
    } catch (error) {
      log.warn({ err: error, folder: site.siteDirectory }, 'it is not known whether a site has what it needs')
    }
  }
  const mending: PhpRuntime = {
    ...(runtime.machineCode && { machineCode: runtime.machineCode }),
    usualBytes: (site) => runtime.usualBytes(site),
    containment: () => runtime.containment(),
    close: () => runtime.close(),
    async start(site, how) {
      await mend(site)
      return runtime.start(site, how)
    },
  }
  return { runtime: mending, keeper }
}

interface RuntimeParts {
  readonly budgets: HostBudgets
  readonly disk: DiskWatch
  readonly edge: HairpinRoute | undefined
  readonly adminer: Buffer | undefined
  readonly mariaDb: MariaDb
  readonly isLowPriority: () => boolean
}

/** @throws OperatorError when the configured file does not exist */
async function openAdminer({ config, log }: ProcessContext): Promise<Buffer | undefined> {
  const { dataDir, adminer: file, adminerSource: source, allowPrivateFetch: allowPrivate } = config
  try {
    return await findAdminer({ dataDir, file, source, allowPrivate, log })
  } catch (error) {
    throw new OperatorError(`STEAD_ADMINER: ${(error as Error).message}`)
  }
}

async function openRuntime({ config }: ProcessContext, parts: RuntimeParts): Promise<PhpRuntime> {
  const { budgets, disk, edge, adminer, mariaDb, isLowPriority } = parts
  const isOutside = outsideOnly(createOwnAddresses(config.edgeAddresses))
  const both = {
    sandbox: config.sandbox,
    disk,
    priority: config.phpNice,
    isLowPriority,
    memoryLimitMb: config.phpMemoryLimitMb,
    uploadMaxMb: config.uploadMaxMb,
    budgets,
    egress: { ...defaultEgressLimits, allows: (address: string) => config.allowPrivateFetch || isOutside(address) },
    ...(edge && { edge }),
    morePhp: {
      ...(adminer !== undefined && { 'adminer.php': adminer }),
      // See `prepend.php`.
      ...(edge && config.edgeTlsListen === 'off' && { 'own-https.php': ownHttps(httpsPort(config)) }),
    },
  }
  const programFolder = join(config.dataDir, 'php-program')
  try {
    return await chooseRuntime(config.runtime, {
      wasm: {
        ...both,
        programFolder,
        codeFolder: join(config.dataDir, 'php-code'),
        optimize: config.phpOptimize,
        compiledOf: (corePath) => compiledOf(config.dataDir, corePath),
      },
      native: {
        ...both,
        programFolder: join(config.dataDir, 'php-native'),
        fpm: { ...defaultFpmLimits, atOnce: config.phpAtOnce },
        databases: nativeDatabases(mariaDb),
        ...(config.cgroup !== undefined && {
          groups: {
            folder: config.cgroup,
            memoryBytes: config.phpMemoryMb * MB,
            // The same amount at which the watch ends a process.
            siteMemoryBytes: 2 * config.phpProcessMemoryMb * MB,
          },
        }),
      },
    })
  } catch (error) {
    if (error instanceof PhpUnavailable) throw new OperatorError(`STEAD_RUNTIME=native: ${error.message}`)
    throw error
  }
}

const ownHttps = (publicPort: number): Buffer =>
  Buffer.from(`<?php return ['port' => ${publicPort}, 'edge' => ${OWN_HTTPS_PORT}];\n`)

function nativeDatabases({ databases }: MariaDb): NativeDatabases | undefined {
  const { socketFolder } = databases?.server ?? {}
  if (!databases || socketFolder === undefined) return undefined
  return { socketFolder, loginOf: (siteDirectory) => databases.loginOf({ siteDirectory }) }
}

/**
 * Creates the route for the ports in addresses of sites. If TLS ends before the edge, the edge itself does not speak
 * it.
 */
function hairpinRoute({ config, database, hostKey }: ProcessContext): HairpinRoute {
  const { edgeListen, edgePublicPort: publicPort = edgeListen.port, edgeTlsListen } = config
  const edges = new Map<number, EdgeListener>()
  if (edgeTlsListen !== 'off') edges.set(httpsPort(config), reachable(edgeTlsListen))
  else edges.set(OWN_HTTPS_PORT, { ...reachable(edgeListen), scheme: 'https' })
  if (publicPort !== 443) edges.set(publicPort, reachable(edgeListen))
  return createHairpinRoute({ edges, edgeKey: hostKey, isSite: (hostName) => isSiteName(database.read, hostName) })
}

const reachable = ({ host, port }: EdgeListener): EdgeListener => ({ host: reachableHost(host), port })

const watchForLostSites = ({ config, database, log }: ProcessContext): SiteWatch =>
  watchSites({
    database: anyDatabase,
    log,
    onLost(siteId, fault) {
      const loss = { siteId, fault, operatorEmail: config.accountEmail, now: Date.now() }
      database
        .transaction((tx) => tellOfLostSite(tx, loss))
        .catch((error) => log.error({ err: error, siteId }, 'could not notify anyone about a missing site'))
    },
  })
