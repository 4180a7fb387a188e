import { join } from 'node:path'
import { hostBudgets } from '../budgets.ts'
import { CoreUnavailable, createCoreLibrary } from '../hosting/core-library/core-library.ts'
import type { CoreSource } from '../hosting/core-library/core-source.ts'
import { Cron } from '../hosting/cron/cron.ts'
import { eventsByDatabase, mariaDbEvents } from '../hosting/cron/mariadb-events.ts'
import { sqliteEvents } from '../hosting/cron/sqlite-events.ts'
import { watchHost } from '../hosting/host-metrics.ts'
import { HostedSites } from '../hosting/hosted-sites.ts'
import type { PhpPool } from '../hosting/php/pool/pool.ts'
import { PhpLogFollower } from '../hosting/php-log/follower.ts'
import { openPlaces } from '../hosting/php-log/positions.ts'
import { sayInPhpLog } from '../hosting/php-log/say.ts'
import { createPluginPackages } from '../hosting/plugin-directory/plugin-packages.ts'
import {
  createPreparation,
  type Preparation,
  type PreparationOptions,
} from '../hosting/site-directories/preparation.ts'
import { Spares } from '../hosting/site-directories/spares.ts'
import { hostJobs, siteHooks } from '../jobs.ts'
import { openBudgets } from '../platform/budgets/budget.ts'
import { createPartMetrics } from '../platform/metrics/part-metrics.ts'
import { createWorker, type Worker } from '../platform/operations/worker/worker.ts'
import type { Progress } from '../platform/terminal/progress-bar.ts'
import type { HostServices } from '../resources/kit/host-services.ts'
import { openBackups } from '../resources/kit/open-backups.ts'
import { openPluginDirectory } from '../resources/plugins/open-directory.ts'
import { announceHost } from './host/announce.ts'
import { followAddresses } from './host/changed-addresses.ts'
import { openSpill, takeDataFolder } from './host/data-folder.ts'
import { openDatabases, whatIsServed } from './host/databases.ts'
import { type MariaDb, openMariaDb } from './host/mariadb.ts'
import { openPageMeasure } from './host/page-measure.ts'
import { type HostReport, startReports } from './host/reports.ts'
import { openSftp, type Sftp } from './host/sftp.ts'
import { openSiteDirectories } from './host/site-directories.ts'
import { openSiteFiles } from './host/site-disk.ts'
import { type HostBudgets, openSitePhp, type SitePhp } from './host/site-php.ts'
import { listenToEdges } from './host/web.ts'
import type { ProcessContext, Role } from './process-context.ts'
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
export async function startHost(context: ProcessContext, options: HostOptions = {}): Promise<Role> {
  const { config, database, log } = context
  const budgets = openBudgets(hostBudgets(config))

  // the data folder, which nobody else has; a server for databases; PHP, of which nothing runs yet
  const folder = await takeDataFolder(context)
  const spill = await openSpill(context)
  const mariaDb = await openMariaDb(context, folder.identity.current, folder.name)
  const php = await openSitePhp(context, budgets, { spill, hasEdge: options.hasEdge === true, mariaDb })
  const { runtime, pool } = php
  php.disk.start()

  // edges may come as soon as they know the address; they wait until it is known which sites live here
  const sites = new HostedSites(database)
  const web = await listenToEdges(context, { budgets, spill, php, sites, mariaDb })
  const hostId = await announceHost(context, folder, web.address)
  const served = whatIsServed(config, runtime, mariaDb)
  const { siteDirectories, folders } = await openSiteDirectories(context, hostId, folder, mariaDb, served.kinds)
  sites.open({ hostId, siteDirectories })

  const phpLogs = followPhpLogs(context, pool, sites)
  phpLogs.start()

  // what works by itself
  const spares = new Spares({ siteDirectories, pool, count: config.spareSites, ...served.usual, log })
  const { doors, dumpTemplate } = openDatabases(context, pool, mariaDb)
  const preparation = prepareSites(context, { runtime, siteDirectories, pool, spares, dumpTemplate }, options)
  const sftp = await openSftp(context, { hostId, php, sites, siteDatabase: doors.siteDatabase, mariaDb })
  const pages = await openPageMeasure(context, budgets, php.edge)
  const parts = { siteDirectories, spares, pool, preparation, sites, sftp, mariaDb, ...doors, ...served.runs }
  const worker = createHostWorker(context, { hostId, ...parts, ...pages, firstPages: php.firstPages })
  const cron = openCron(context, sites, php, mariaDb)

  // first of these: who was this host before must be gone before this one gives out work
  const reports = await startReports(context, {
    hostId,
    epoch: folder.identity.current.epoch,
    ...{ name: folder.name, say: options.onReport },
    facts: () => ({
      ...preparation.state(),
      containment: runtime.containment(),
      ...served.facts,
      php: pool.stats(),
      cron: cron.stats(),
      setAsideHomes: folders.quarantined,
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
  await followAddresses(context, hostId)
  worker.start()
  cron.start()
  const metrics = startMetrics(context, budgets, {
    php: () => pool.stats(),
    cron: () => cron.stats(),
    mail: () => php.mail.metrics(),
    sftp: () => sftp.metrics(),
    lostSites: () => php.watch.lost(),
    quarantinedDirectories: () => folders.quarantined,
    mariaDb: () => mariaDb.metrics(),
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

function openCron({ log }: ProcessContext, sites: HostedSites, { pool, hear }: SitePhp, { databases }: MariaDb): Cron {
  const runs = (siteDirectory: string) => pool.running().some((site) => site.siteDirectory === siteDirectory)
  const events = eventsByDatabase(sqliteEvents(), mariaDbEvents({ databases, runs }))
  const cron = new Cron({
    sites: () => sites.all(),
    siteById: (siteId) => sites.find(siteId),
    say: sayInPhpLog,
    ...{ php: pool, log, events },
  })
  hear((siteId, text) => cron.hear(siteId, text))
  return cron
}

function startMetrics(context: ProcessContext, budgets: HostBudgets, watched: Parameters<typeof watchHost>[1]) {
  const own = createPartMetrics('host', { budgets, room: context.room })
  watchHost(own.registry, watched)
  return startReporting(context, own)
}

const followPhpLogs = ({ config, logs, log }: ProcessContext, pool: PhpPool, sites: HostedSites): PhpLogFollower =>
  new PhpLogFollower({
    running: () => pool.running(),
    all: () => sites.all(),
    store: logs,
    places: openPlaces(join(config.dataDir, 'logs/php-places.db')),
    log,
  })

/** What is made ahead of sites: the core, the golden copy, site directories, warm processes. */
function prepareSites(
  { config, log }: ProcessContext,
  parts: Pick<PreparationOptions, 'runtime' | 'siteDirectories' | 'pool' | 'spares' | 'dumpTemplate'>,
  { onProgress = () => {} }: HostOptions,
): Preparation {
  return createPreparation({ ...parts, onProgress, config, library: coreLibrary({ config, log }), log })
}

const coreLibrary = ({ config, log }: Pick<ProcessContext, 'config' | 'log'>, sources?: readonly CoreSource[]) =>
  createCoreLibrary({ ...config, allowPrivate: config.allowPrivateFetch, log, ...(sources && { sources }) })

/** As `HostServices` has it. */
async function ensureCore(
  context: ProcessContext,
  version: string,
  otherwise: CoreSource,
  signal: AbortSignal,
): Promise<void> {
  try {
    await coreLibrary(context).ensure(version, { signal })
  } catch (error) {
    if (!(error instanceof CoreUnavailable)) throw error
    await coreLibrary(context, [otherwise]).ensure(version, { signal })
  }
}

interface WorkParts
  extends Pick<
    HostServices,
    | 'hostId'
    | 'siteDirectories'
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
function createHostWorker(context: ProcessContext, { preparation, sites, sftp, mariaDb, ...parts }: WorkParts): Worker {
  const { database, log } = context
  const services: HostServices = {
    ...context,
    ...parts,
    backups: openBackups(context),
    siteFiles: openSiteFiles(context, mariaDb.databaseBytes),
    pluginDirectory: openPluginDirectory(context.config),
    pluginPackages: createPluginPackages({
      dataDir: context.config.dataDir,
      base: context.config.wordpressApi,
      allowPrivate: context.config.allowPrivateFetch,
    }),
    template: preparation.template,
    ensureCore: (version, otherwise, signal) => ensureCore(context, version, otherwise, signal),
    cores: coreLibrary(context),
    hostedSite: (siteId) => sites.find(siteId),
    endSftp: (siteId) => sftp.endOfSite(siteId),
    refill: preparation.refill,
    siteHooks,
  }
  const { hostId } = parts
  return createWorker({ database, definitions: hostJobs, runner: 'host', hostId, services, log })
}
