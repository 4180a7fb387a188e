import { join } from 'node:path'
import { hostBudgets } from '../budgets.ts'
import { CoreUnavailable, createCoreLibrary } from '../hosting/core-library/core-library.ts'
import type { CoreSource } from '../hosting/core-library/core-source.ts'
import { Cron } from '../hosting/cron/cron.ts'
import { eventsByHome, mariaDbEvents } from '../hosting/cron/mariadb-events.ts'
import { sqliteEvents } from '../hosting/cron/sqlite-events.ts'
import { createPreparation, type Preparation, type PreparationOptions } from '../hosting/homes/preparation.ts'
import { Spares } from '../hosting/homes/spares.ts'
import { watchHost } from '../hosting/host-metrics.ts'
import { HostedSites } from '../hosting/hosted-sites.ts'
import type { PhpPool } from '../hosting/php/pool.ts'
import { PhpLogFollower } from '../hosting/php-log/follower.ts'
import { openPlaces } from '../hosting/php-log/positions.ts'
import { sayInPhpLog } from '../hosting/php-log/say.ts'
import { createPluginPackages } from '../hosting/plugin-directory/plugin-packages.ts'
import { hostJobs, siteHooks } from '../jobs.ts'
import { openBudgets } from '../platform/budgets/budget.ts'
import { createPartMetrics } from '../platform/metrics/part-metrics.ts'
import { createWorker, type Worker } from '../platform/operations/worker.ts'
import type { Progress } from '../platform/terminal/progress-bar.ts'
import type { HostServices } from '../resources/host-services.ts'
import { openBackups } from '../resources/open-backups.ts'
import { openPluginDirectory } from '../resources/plugins/open-directory.ts'
import { announceHost } from './host/announce.ts'
import { followAddresses } from './host/changed-addresses.ts'
import { openSpill, takeDataFolder } from './host/data-folder.ts'
import { openDatabases, whatIsServed } from './host/databases.ts'
import { openHomes } from './host/homes.ts'
import { type MariaDb, openMariaDb } from './host/mariadb.ts'
import { openPageMeasure } from './host/page-measure.ts'
import { type HostReport, startReports } from './host/reports.ts'
import { openSftp, type Sftp } from './host/sftp.ts'
import { openSiteFiles } from './host/site-disk.ts'
import { type HostBudgets, openSitePhp, type SitePhp } from './host/site-php.ts'
import { listenToEdges } from './host/web.ts'
import type { Ground, Part } from './part.ts'
import { startReporting } from './reporting.ts'

/** How long steps of operations may take to come to an end of their own when the host stops. */
const WORK_GRACE_MS = 10_000
/** The same for what PHP is doing. */
const PHP_GRACE_MS = 5000
/** And a mail that is on its way to the mail server: it is sent again where that was not the end of it. */
const MAIL_GRACE_MS = 2000

export interface HostOptions {
  readonly onProgress?: (progress: Progress) => void
  /** An edge of this Stead listens on this machine, as the settings say. */
  readonly hasEdge?: boolean
  /** The first preparation has come to an end. */
  readonly onPrepared?: () => void
  /** How the host is, every few seconds. */
  readonly onReport?: (report: HostReport) => void
}

/**
 * Keeps sites, runs their PHP, and does the operations bound to them. Reads from top to bottom: what is there was made above, and
 * stops after all that was started later. A start that fails takes nothing back: its process ends, and leaves nothing behind.
 * @throws OperatorError
 */
export async function startHost(ground: Ground, options: HostOptions = {}): Promise<Part> {
  const { config, database, log } = ground
  const budgets = openBudgets(hostBudgets(config))

  // the data folder, which nobody else has; a server for databases; PHP, of which nothing runs yet
  const folder = await takeDataFolder(ground)
  const spill = await openSpill(ground)
  const mariaDb = await openMariaDb(ground, folder.identity.current, folder.name)
  const php = await openSitePhp(ground, budgets, { spill, hasEdge: options.hasEdge === true, mariaDb })
  const { runtime, pool } = php
  php.disk.start()

  // edges may come as soon as they know the address; they wait until it is known which sites live here
  const sites = new HostedSites(database)
  const web = await listenToEdges(ground, { budgets, spill, php, sites, mariaDb })
  const hostId = await announceHost(ground, folder, web.address)
  const served = whatIsServed(config, runtime, mariaDb)
  const { homes, folders } = await openHomes(ground, hostId, folder, { onServer: mariaDb.ofHomes, kinds: served.kinds })
  sites.open({ hostId, homes })

  const phpLogs = followPhpLogs(ground, pool, sites)
  phpLogs.start()

  // what works by itself
  const spares = new Spares({ homes, pool, count: config.spareSites, ...served.usual, log })
  const { doors, dumpTemplate } = openDatabases(ground, pool, mariaDb)
  const preparation = prepareSites(ground, { runtime, homes, pool, spares, dumpTemplate }, options)
  const sftp = await openSftp(ground, { hostId, php, sites, siteDatabase: doors.siteDatabase, mariaDb })
  const pages = await openPageMeasure(ground, budgets, php.edge)
  const offered = { measurePage: pages.measurePage, firstPages: php.firstPages, ...doors, ...served.runs, mariaDb }
  const worker = createHostWorker(ground, { hostId, homes, spares, pool, preparation, sites, sftp, ...offered })
  const cron = openCron(ground, sites, php, mariaDb)

  // first of these: who was this host before must be gone before this one gives out work
  const reports = await startReports(ground, {
    hostId,
    epoch: folder.identity.current.epoch,
    ...{ name: folder.name, say: options.onReport },
    facts: () => ({
      ...preparation.state(),
      containment: runtime.containment(),
      ...served.facts,
      php: pool.stats(),
      cron: cron.stats(),
      setAsideHomes: folders.setAside,
      lostSites: php.watch.lost(),
      hasDatabaseAdmin: php.hasDatabaseAdmin,
      canMeasurePages: pages.impossible === undefined,
      ...mariaDb.facts(),
    }),
  })
  preparation.start().finally(() => {
    options.onPrepared?.()
    reports.report().catch(() => {})
  })
  await followAddresses(ground, hostId)
  worker.start()
  cron.start()
  const metrics = startMetrics(ground, budgets, {
    php: () => pool.stats(),
    cron: () => cron.stats(),
    mail: () => php.mail.figures(),
    sftp: () => sftp.figures(),
    lostSites: () => php.watch.lost(),
    setAsideHomes: () => folders.setAside,
    mariaDb: () => mariaDb.figures(),
  })
  log.info({ address: web.address, ...runtime.containment() }, 'host is listening')

  return {
    fault: reports.fault,
    async stop() {
      // before its turn: who stops reports no more that it lives
      await reports.stop()
      await metrics.stop()
      // nothing is begun any more
      const cronEnded = cron.stop()
      await worker.stop(WORK_GRACE_MS)
      web.close()
      await sftp.close()
      await preparation.stop()
      // with PHP ends what visitors wait for, and a scheduled event that is under way
      await pool.stopAll(PHP_GRACE_MS)
      await cronEnded
      // what PHP said and wrote until its end
      await php.changes.close()
      await php.mail.stop(MAIL_GRACE_MS)
      await phpLogs.stop()
      await web.end()
      await php.disk.stop()
      await runtime.close()
      await mariaDb.stop()
      folder.release()
    },
  }
}

function openCron({ log }: Ground, sites: HostedSites, { pool, hear }: SitePhp, { databases }: MariaDb): Cron {
  const runs = (homePath: string) => pool.running().some((site) => site.homePath === homePath)
  const events = eventsByHome(sqliteEvents(), mariaDbEvents({ databases, runs }))
  const cron = new Cron({
    sites: () => sites.all(),
    siteById: (siteId) => sites.find(siteId),
    say: sayInPhpLog,
    ...{ php: pool, log, events },
  })
  hear((siteId, text) => cron.hear(siteId, text))
  return cron
}

function startMetrics(ground: Ground, budgets: HostBudgets, watched: Parameters<typeof watchHost>[1]) {
  const own = createPartMetrics('host', { budgets, room: ground.room })
  watchHost(own.registry, watched)
  return startReporting(ground, own)
}

const followPhpLogs = ({ config, logs, log }: Ground, pool: PhpPool, sites: HostedSites): PhpLogFollower =>
  new PhpLogFollower({
    running: () => pool.running(),
    all: () => sites.all(),
    store: logs,
    places: openPlaces(join(config.dataDir, 'logs/php-places.db')),
    log,
  })

/** What is made ahead of sites: the core, the golden copy, homes, warm processes. */
function prepareSites(
  { config, log }: Ground,
  parts: Pick<PreparationOptions, 'runtime' | 'homes' | 'pool' | 'spares' | 'dumpTemplate'>,
  { onProgress = () => {} }: HostOptions,
): Preparation {
  return createPreparation({ ...parts, onProgress, config, library: coreLibrary({ config, log }), log })
}

const coreLibrary = ({ config, log }: Pick<Ground, 'config' | 'log'>, sources?: readonly CoreSource[]) =>
  createCoreLibrary({ ...config, allowPrivate: config.allowPrivateFetch, log, ...(sources && { sources }) })

/** As `HostServices` has it. */
async function ensureCore(ground: Ground, version: string, otherwise: CoreSource, signal: AbortSignal): Promise<void> {
  try {
    await coreLibrary(ground).ensure(version, { signal })
  } catch (error) {
    if (!(error instanceof CoreUnavailable)) throw error
    await coreLibrary(ground, [otherwise]).ensure(version, { signal })
  }
}

interface WorkParts
  extends Pick<
    HostServices,
    | 'hostId'
    | 'homes'
    | 'spares'
    | 'pool'
    | 'firstPages'
    | 'siteDatabase'
    | 'measurePage'
    | 'databaseKindFor'
    | 'databaseContent'
    | 'hasWasm'
    | 'containment'
  > {
  readonly preparation: Preparation
  readonly mariaDb: MariaDb
  readonly sites: HostedSites
  readonly sftp: Sftp
}

/** Does the operations that are bound to the sites of this host. */
function createHostWorker(ground: Ground, { preparation, sites, sftp, mariaDb, ...parts }: WorkParts): Worker {
  const { database, log } = ground
  const services: HostServices = {
    ...ground,
    ...parts,
    backups: openBackups(ground),
    siteFiles: openSiteFiles(ground, mariaDb.databaseBytes),
    pluginDirectory: openPluginDirectory(ground.config),
    pluginPackages: createPluginPackages({
      dataDir: ground.config.dataDir,
      base: ground.config.wordpressApi,
      allowPrivate: ground.config.allowPrivateFetch,
    }),
    template: preparation.template,
    ensureCore: (version, otherwise, signal) => ensureCore(ground, version, otherwise, signal),
    cores: coreLibrary(ground),
    hostedSite: (siteId) => sites.find(siteId),
    endSftp: (siteId) => sftp.endOfSite(siteId),
    refill: preparation.refill,
    siteHooks,
  }
  const { hostId } = parts
  return createWorker({ database, definitions: hostJobs, runner: 'host', hostId, services, log })
}
