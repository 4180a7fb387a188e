import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FastifyInstance } from 'fastify'
import { controlBudgets } from './budgets.ts'
import type { Config } from './config.ts'
import { jobs, siteHooks, undoable } from './jobs.ts'
import { type Budgets, openBudgets } from './platform/budgets/budget.ts'
import type { Sealer } from './platform/crypto/seal.ts'
import type { Database } from './platform/db/database.ts'
import { type ApiMetrics, createApiMetrics } from './platform/http/api-metrics.ts'
import { createApi, type Readiness } from './platform/http/create-api.ts'
import type { Endpoint } from './platform/http/endpoint.ts'
import { EventStreams } from './platform/http/event-streams.ts'
import { createKeyLimit } from './platform/http/idempotency/key-limit.ts'
import type { Platform } from './platform/http/pipeline.ts'
import { httpProblems, type ProblemKind } from './platform/http/problem.ts'
import { createRateLimit } from './platform/http/rate-limit.ts'
import { servePages } from './platform/http/serve-panel.ts'
import type { Log } from './platform/log/log.ts'
import type { LogStore } from './platform/log-store/log-store.ts'
import { openLogStore } from './platform/log-store/open-log-store.ts'
import { createOperationWatch } from './platform/operations/worker/watch.ts'
import { type Access, authorize, describeAccess } from './resources/access/access.ts'
import { ActivityFeed } from './resources/activity/activity-feed.ts'
import { scopes } from './resources/authentication/scopes.ts'
import { Downloads } from './resources/backups/download/downloads.ts'
import { resources } from './resources/index.ts'
import type { Caller } from './resources/kit/caller.ts'
import type { Services } from './resources/kit/context.ts'
import { openBackups } from './resources/kit/open-backups.ts'
import type { Resource } from './resources/kit/resource.ts'
import { siteOperations } from './resources/kit/site-operations.ts'
import { admitOperation } from './resources/operations/admit.ts'
import { createStreamAccess, type StreamFacts } from './resources/operations/stream-access.ts'
import { openPluginDirectory } from './resources/plugins/open-directory.ts'
import { createCallers, requireProof } from './resources/sign-in/callers.ts'
import { Passwords } from './resources/sign-in/password/user-password.ts'
import { EventFeed } from './resources/webhooks/event-feed.ts'
import { version } from './version.ts'

/** Every endpoint of the API, in the order of its description. */
export const apiEndpoints: readonly Endpoint[] = (await Promise.all(resources.map(endpointsOf))).flat()

async function endpointsOf({ tag, endpoints: load }: Resource): Promise<Endpoint[]> {
  if (!tag || !load) return []
  return (await load()).endpoints.map((endpoint) => ({ ...endpoint, tag: tag.name }))
}

/** All actions of the activity logs. */
const actions = resources.flatMap((each) => Object.values(each.actions ?? {}))

/** All webhook events. */
const eventTypes = resources.flatMap((each) => Object.keys(each.events ?? {}))

/** All problems that clients can get. */
export const apiProblems: readonly ProblemKind[] = [
  ...resources.flatMap((each) => Object.values(each.problems ?? {})),
  ...Object.values(httpProblems),
]

export interface AppOptions {
  readonly config: Config
  readonly database: Database
  readonly sealer: Sealer
  readonly log: Log
  /** Default: that of the settings. */
  readonly logs?: LogStore | undefined
  /** Default: those of the settings. */
  readonly backups?: Services['backups']
  /** Default: WordPress' own, or the replacement in the settings. */
  readonly pluginDirectory?: Services['pluginDirectory'] | undefined
  /** Passes clients' uploads on to hosts. Default: there is none. */
  readonly sendPart?: Services['sendPart']
  /** Prints pages as PDF. Default: no browser. */
  readonly printPage?: Services['printPage']
  readonly metrics: ApiMetrics
  readonly version: string
  readonly readiness: () => Promise<Readiness>
  /** Default: no checks. */
  readonly checks?: Services['checks'] | undefined
  /** Default: those of the settings, counted for this instance only. */
  readonly budgets?: Budgets<keyof ReturnType<typeof controlBudgets>>
  /** Milliseconds UTC. */
  readonly now?: () => number
}

/** Beside this file, both in the sources and in the package. */
const PANEL_FOLDER = fileURLToPath(new URL('./panel/dist', import.meta.url))

/** Larger than any body that the API needs. */
const BODY_LIMIT_BYTES = 1 << 20

/** The idempotency keys that an application may have. Each stays for a day. */
const KEY_LIMITS = { keys: 100_000, bytes: 256 << 20 }

/** The text of the description about the API in general. */
const infoOf = (version: string) => ({
  title: 'Stead',
  version,
  description:
    'Self-hosted control plane for WordPress sites. All times are UTC.\n\nStead ignores empty path segments: `/v1/sites//notes` is `/v1/sites/notes`. Unknown paths return 404, and unsupported methods return 405 with `Allow`. Both responses contain the Problem object.',
  tags: resources.flatMap(({ tag }) => tag ?? []),
  scopes,
})

/** The declarations of the resources, for all handlers. */
const ofResources = { siteHooks, undoable, siteOperations: siteOperations(apiEndpoints), actions, eventTypes }

/** Creates the HTTP API as one instance, which does not listen. */
export async function createApp(options: AppOptions): Promise<FastifyInstance> {
  const { config, database, sealer, log, now = Date.now } = options
  const logs = options.logs ?? logsOf(config)
  const budgets = options.budgets ?? openBudgets(controlBudgets(config))
  const watches = createOperationWatch(database)
  const streams = new EventStreams<StreamFacts>({
    budget: budgets.eventStreams,
    mayStay: createStreamAccess(database, now),
  })
  const backups = options.backups ?? openBackups(options)
  const downloads = new Downloads({ budget: budgets.downloads, backups, database, log })
  const services: Services = {
    config,
    database,
    sealer,
    backups,
    downloads,
    sendPart: options.sendPart,
    printPage: options.printPage,
    log,
    logs,
    definitions: jobs,
    pluginDirectory: options.pluginDirectory ?? openPluginDirectory(config),
    passwords: new Passwords(budgets.passwordHashing),
    ...ofResources,
    figures: options.metrics.reports,
    checks: options.checks ?? (async () => ({ at: now(), found: [] })),
    watches,
    streams,
    activityFeed: new ActivityFeed(database),
    feed: new EventFeed(database),
  }
  const app = await createApi<Caller>({
    endpoints: apiEndpoints,
    log,
    metrics: options.metrics,
    info: infoOf(options.version),
    describeAccess: ({ access, proof }) => describeAccess(access as Access, proof),
    corsOrigins: config.corsOrigins,
    ...proxiesOf(config),
    bodyLimitBytes: BODY_LIMIT_BYTES,
    bodies: budgets.requestBodies,
    readiness: options.readiness,
    platform: {
      database,
      sealer,
      now,
      rates: ratesOf(config),
      keyLimit: createKeyLimit(KEY_LIMITS),
      authenticate: createCallers(database),
      authorize: authorizeAt(now),
      admit: admitOperation,
      services,
    },
  })
  if (config.panel === 'on') await servePages(app, PANEL_FOLDER)
  app.addHook('preClose', async () => streams.close())
  app.addHook('onClose', async () => {
    watches.close()
    await downloads.close()
  })
  return app
}

const logsOf = ({ databaseUrl, dataDir, logMb }: Config): LogStore =>
  openLogStore({ url: databaseUrl, folder: join(dataDir, 'logs'), mostBytes: logMb * 2 ** 20 })

/** Checks that run before the API. */
const proxiesOf = ({ trustProxy, proxyProtocol, panelUrl }: Config) => ({
  trustProxy,
  proxyProtocol,
  publicUrl: panelUrl,
})

const ratesOf = ({ rateLimit, tokenRateLimit }: Config) => ({
  application: createRateLimit('application', rateLimit),
  address: createRateLimit('token', tokenRateLimit),
})

/** Checks the caller's rights, and the confirmed password of endpoints that require it. */
const authorizeAt =
  (now: () => number): Platform<Caller>['authorize'] =>
  async ({ access, proof }, caller, input, tx) => {
    const allowed = await authorize(access as Access, caller, input, tx)
    if (proof) requireProof(caller, now())
    return allowed
  }

export type OpenApiDocument = ReturnType<FastifyInstance['swagger']>

/** Returns the OpenAPI document without serving it. */
export async function apiDescription(
  parts: Pick<AppOptions, 'config' | 'database' | 'sealer' | 'log'>,
): Promise<OpenApiDocument> {
  const readiness = async () => ({ ready: true, details: {} })
  const app = await createApp({ ...parts, metrics: createApiMetrics(), version, readiness })
  await app.ready()
  const document = app.swagger()
  await app.close()
  return document
}
