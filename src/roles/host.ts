import { join } from 'node:path'
import { hostBudgets } from '../budgets.ts'
import { CoreUnavailable, createCoreLibrary } from '../hosting/core-library/core-library.ts'
import type { CoreSource } from '../hosting/core-library/core-source.ts'
import { Cron } from '../hosting/cron/cron.ts'
import { eventsByDatabase, mariaDbEvents } from '../hosting/cron/mariadb-events.ts'
import { sqliteEvents } from '../hosting/cron/sqlite-events.ts'
import { watchHost } from '../hosting/host-metrics.ts'
import { HostedSites } from '../hosting/hosted-sites.ts'
import { foreignKnowledge } from '../hosting/identity/faults.ts'
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
import { openPluginDirectory } from '../resources/plugins/open-directory.ts'
import { announceHost } from './host/announce.ts'
import { followAddresses } from './host/changed-addresses.ts'
import { openDatabases, whatIsServed } from './host/databases.ts'
import { type MariaDb, openMariaDb } from './host/mariadb.ts'
import { openSecrets } from './host/opened-by-control.ts'
import { openPageMeasure } from './host/page-measure.ts'
import { type HostReport, startReports } from './host/reports.ts'
import { openSftp, type Sftp } from './host/sftp.ts'
import { openSiteDirectories, siteDirectoriesOf } from './host/site-directories.ts'
import { openSiteFiles } from './host/site-disk.ts'
import { SiteFaults } from './host/site-faults.ts'
import { type HostBudgets, openSitePhp, type SitePhp } from './host/site-php.ts'
import { openSpill, type TakenFolder, takeDataFolder, takeDataFolderAgain } from './host/take-data-folder.ts'
import { listenToEdges } from './host/web.ts'
import { type KeptSites, keptSites } from './known/kept-sites.ts'
import type { KnownSites } from './known/known-sites.ts'
import { runWhileAway } from './known/run-while-away.ts'
import type { ProcessContext, RunningRole } from './process-context.ts'
import { startReporting } from './reporting.ts'

/** The time for steps of operations to finish when the host stops. */
const WORK_GRACE_MS = 10_000
/** The time for running PHP to finish. */
const PHP_GRACE_MS = 5000
/** The time for a mail in delivery. If it is not finished by then, it is sent again. */
const MAIL_GRACE_MS = 2000

export interface HostOptions {
  readonly onProgress?: (progress: Progress) => void
  /** Whether an edge of this Stead listens on this machine, according to the settings. */
  readonly hasEdge?: boolean
  /** Called when the first preparation has ended. */
  readonly onPrepared?: () => void
  /** Called with the state of the host, every few seconds. */
  readonly onReport?: (report: HostReport) => void
}

/**
 * Keeps sites, runs their PHP, and runs the operations bound to them. While the database is away, it serves the sites
 * that its last process knew, and does the rest when the database is back. A failed start undoes nothing: its process
 * ends, and leaves nothing behind.
 * @throws OperatorError
 */
export async function startHost(context: ProcessContext, options: HostOptions = {}): Promise<RunningRole> {
  const { untilBack } = context
  const kept = keptSites(context)
  const known = untilBack && (await kept.read())
  // The file was damaged since.
  if (untilBack && !known) await untilBack
  const serving = await serveVisitors(context, { kept, known, hasEdge: options.hasEdge === true })
  const join = async () => {
    const folder = known ? await takeDataFolderAgain(context, serving.folder) : serving.folder
    if (folder.name !== serving.folder.name) throw foreignKnowledge(context.config.dataDir)
    return joinInstallation(context, serving, folder)
  }
  const joinUnlessRefused = () => kept.forgetIfRefused(join)
  const start = (joined: JoinedHost) => startWork(context, { serving, kept, ...joined }, options)
  if (!known || !untilBack) return start(await joinUnlessRefused())
  context.log.info({ address: serving.web.address, sites: known.sites.length }, 'host is listening')
  return runWhileAway({ untilBack, join: joinUnlessRefused, start, stop: () => stopServing(serving) })
}

type Serving = Awaited<ReturnType<typeof serveVisitors>>
type JoinedHost = Awaited<ReturnType<typeof joinInstallation>>

interface ServingOptions {
  readonly kept: KeptSites
  readonly known: KnownSites | undefined
  readonly hasEdge: boolean
}

/** Starts what visitors need. Each part uses those above. */
async function serveVisitors(context: ProcessContext, { kept, known, hasEdge }: ServingOptions) {
  const { config, database } = context
  const budgets = openBudgets(hostBudgets(config))

  // The data folder, which no other process has, a server for databases, and PHP, which runs nothing yet.
  const folder = await kept.forgetIfRefused(() => takeDataFolder(context, known))
  const spill = await openSpill(context)
  const mariaDb = await openMariaDb(context, folder.identity.current, folder.name)
  const php = await openSitePhp(context, budgets, { spill, hasEdge, mariaDb })
  const { pool } = php
  php.disk.start()
  const served = whatIsServed(config, php.runtime, mariaDb)

  // Edges may connect as soon as they know the address. They wait until the host knows its sites.
  const sites = new HostedSites(database, {
    isHeld: (siteId) => pool.isHeld(siteId),
    keep: (records) => kept.keep(records),
  })
  if (known) {
    const { hostId } = known
    const { siteDirectories } = siteDirectoriesOf(context, { hostId, bound: folder, mariaDb, kinds: served.kinds })
    sites.openKept(siteDirectories, known.sites)
  }
  const webParts = { budgets, spill, php, sites, mariaDb, name: folder.name, knownPort: known?.port }
  const web = await listenToEdges(context, webParts)
  return { budgets, kept, folder, mariaDb, php, served, sites, web }
}

/** Stops serving visitors, where nothing else was started. */
async function stopServing({ web, php, sites, mariaDb, folder }: Serving): Promise<void> {
  web.close()
  await php.pool.stopAll(PHP_GRACE_MS)
  sites.close()
  await php.changes.close()
  await php.mail.stop(MAIL_GRACE_MS)
  await web.end()
  await php.disk.stop()
  await php.runtime.close()
  await mariaDb.stop()
  folder.release()
}

/** Announces the host to control and edges, and compares its site directories with the records. */
async function joinInstallation(
  context: ProcessContext,
  { kept, mariaDb, served, sites, web }: Serving,
  folder: TakenFolder,
) {
  const hostId = await announceHost(context, folder, web.address)
  const kinds = served.kinds
  const { siteDirectories, folders } = await openSiteDirectories(context, { hostId, bound: folder, mariaDb, kinds })
  kept.use({ hostId, identity: folder.identity.current.host, name: folder.name, port: web.port })
  sites.open({ hostId, siteDirectories })
  return { hostId, folder, siteDirectories, folders }
}

interface HostParts extends JoinedHost {
  readonly serving: Serving
  readonly kept: KeptSites
}

/** Starts background work. Each part uses those above, and stops after all that were started later. */
async function startWork(context: ProcessContext, host: HostParts, options: HostOptions): Promise<RunningRole> {
  const { config, log } = context
  const { serving, kept, hostId, folder, siteDirectories, folders } = host
  const { budgets, mariaDb, php, served, sites, web } = serving
  const { runtime, pool } = php
  const phpLogs = followPhpLogs(context, pool, sites)
  phpLogs.start()

  const spares = new Spares({ siteDirectories, pool, count: config.spareSites, ...served.usual, log })
  const { doors, dumpTemplate } = openDatabases(context, pool, mariaDb)
  const preparation = prepareSites(context, { runtime, siteDirectories, pool, spares, dumpTemplate }, options)
  const sftp = await openSftp(context, { hostId, php, sites, siteDatabase: doors.siteDatabase, mariaDb })
  const pages = await openPageMeasure(context, budgets, php.edge)
  const parts = { siteDirectories, spares, pool, preparation, sites, sftp, mariaDb, ...doors, ...served.runs }
  const worker = createHostWorker(context, {
    ...{ hostId, ...parts, ...pages, firstPages: php.firstPages },
    ...openSecrets(context, { hostId, control: web.identity }),
  })
  const cron = openCron(context, sites, php, mariaDb)

  // First of these: the predecessor of this host must be gone before it hands out work.
  const reports = await startReports(context, {
    hostId,
    epoch: folder.identity.current.epoch,
    ...{ name: folder.name, say: options.onReport, onRefused: () => kept.forget() },
    facts: () => ({
      ...preparation.state(),
      containment: runtime.containment(),
      diskUsedShare: Math.round(context.room.usedShare * 1000) / 1000,
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
      // Early, because a host that stops no longer reports that it is alive.
      await reports.stop()
      await metrics.stop()
      // Nothing new starts.
      const cronEnded = cron.stop()
      await worker.stop(WORK_GRACE_MS)
      web.close()
      await sftp.close()
      await preparation.stop()
      // Stopping PHP ends the requests that visitors wait for, and a running scheduled event.
      await pool.stopAll(PHP_GRACE_MS)
      await cronEnded
      sites.close()
      // The last output of PHP.
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

function followPhpLogs(context: ProcessContext, pool: PhpPool, sites: HostedSites): PhpLogFollower {
  const { config, logs, log } = context
  return new PhpLogFollower({
    running: () => pool.running(),
    all: () => sites.all(),
    store: new SiteFaults(context).counting(logs),
    places: openPlaces(join(config.dataDir, 'logs/php-places.db')),
    log,
  })
}

/** Prepares resources ahead of sites: the core, the golden copy, site directories, warm processes. */
function prepareSites(
  { config, log }: ProcessContext,
  parts: Pick<PreparationOptions, 'runtime' | 'siteDirectories' | 'pool' | 'spares' | 'dumpTemplate'>,
  { onProgress = () => {} }: HostOptions,
): Preparation {
  return createPreparation({ ...parts, onProgress, config, library: coreLibrary({ config, log }), log })
}

const coreLibrary = ({ config, log }: Pick<ProcessContext, 'config' | 'log'>, sources?: readonly CoreSource[]) =>
  createCoreLibrary({ ...config, allowPrivate: config.allowPrivateFetch, log, ...(sources && { sources }) })

/** Implements `ensureCore` of `HostServices`. */
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
    | 'comparePictures'
    | 'takePictures'
    | 'comparePicturesAfter'
    | 'databaseKindFor'
    | 'databaseContent'
    | 'hasWasm'
    | 'containment'
    | 'backups'
    | 'openSecret'
    | 'storeCore'
  > {
  readonly preparation: Preparation
  readonly mariaDb: MariaDb
  readonly sites: HostedSites
  readonly sftp: Sftp
}

/** Creates the worker that runs the operations bound to the sites of this host. */
function createHostWorker(context: ProcessContext, { preparation, sites, sftp, mariaDb, ...parts }: WorkParts): Worker {
  const { database, log } = context
  const services: HostServices = {
    ...context,
    ...parts,
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
    keepClosed: () => sites.keepClosed(),
    refill: preparation.refill,
    siteHooks,
  }
  const { hostId } = parts
  return createWorker({ database, definitions: hostJobs, runner: 'host', hostId, services, log })
}
