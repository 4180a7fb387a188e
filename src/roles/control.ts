import { X509Certificate } from 'node:crypto'
import { join } from 'node:path'
import type { Registry } from 'prom-client'
import { createApp } from '../app.ts'
import { controlBudgets } from '../budgets.ts'
import type { Config } from '../config.ts'
import { hostReports } from '../hosting/host.store.ts'
import { createSendPart } from '../hosting/site-imports/send-part.ts'
import { accountHooks, controlJobs, jobs } from '../jobs.ts'
import { openBudgets } from '../platform/budgets/budget.ts'
import { DiskReserve, isWritable } from '../platform/files/free-room.ts'
import { readSettingFile } from '../platform/files/setting-file.ts'
import { removeLeftTemporaries, writeFileDurably } from '../platform/files/write-file.ts'
import { createApiMetrics } from '../platform/http/api-metrics.ts'
import { keptFor } from '../platform/kept-for.ts'
import { createMailer } from '../platform/mail/mailer.ts'
import { createPartMetrics } from '../platform/metrics/part-metrics.ts'
import { createScheduler } from '../platform/operations/schedule.ts'
import { readDatabaseTime } from '../platform/operations/worker/lease.ts'
import { createWorker } from '../platform/operations/worker/worker.ts'
import { processReports } from '../platform/processes/process.store.ts'
import { makeFirstAccount } from '../resources/account/account.ts'
import { orderOwnNames } from '../resources/certificates/order-certificate.job.ts'
import type { ControlServices } from '../resources/kit/control-services.ts'
import { openBackups } from '../resources/kit/open-backups.ts'
import { panelAddress } from '../resources/kit/panel-address.ts'
import { openPluginDirectory } from '../resources/plugins/open-directory.ts'
import { makeLink } from '../resources/sign-in/password/mail-link.job.ts'
import { WebhookSender } from '../resources/webhooks/delivery/webhook-sender.ts'
import { createWebhookMetrics } from '../resources/webhooks/webhook-metrics.ts'
import { schedules } from '../schedules.ts'
import { version } from '../version.ts'
import { startInternalListener } from './certificates/internal-listener.ts'
import { openIdentityOf } from './certificates/role-certificate.ts'
import { startSecureApi } from './certificates/secure-api.ts'
import { checksOfControl, logProblems } from './checks/of-control.ts'
import { credentialsFile, type OwnerCredentials, readCredentials, urlOf } from './credentials.ts'
import { createInstallationMetrics } from './installation-metrics.ts'
import { requireMasterKey } from './keys/process-keys.ts'
import { type HostStanding, isRunning, OwnHost } from './own-host.ts'
import { openPrinter } from './page-print.ts'
import type { ProcessContext, RunningRole } from './process-context.ts'
import { judgeReadiness, type PartStates } from './readiness.ts'
import { untilFree } from './start/free-port.ts'

/** Checks contact other machines, so several callers share an answer. */
const CHECKED_MS = 10_000
/** The time for background work to finish when the control stops. */
const WORK_GRACE_MS = 5000

export interface Control extends RunningRole {
  /** The HTTP address of the API. */
  readonly url: string
}

/** Describes a host. For one that is not running, omits the facts of its last report. */
const describeHost = (host: HostStanding) => ({
  name: host.name,
  state: host.isHeard || host.state === 'lost' ? host.state : 'silent',
  seen_seconds: host.seenSeconds,
  ...(host.recordFault && { record_fault: host.recordFault }),
  ...(isRunning(host) && host.facts),
})

/**
 * Starts the API, and the work that needs no site files.
 * @param parts returns the states of the other processes of this machine
 */
export async function startControl(
  context: ProcessContext,
  parts: () => PartStates = () => ({}),
  ownHost: OwnHost = new OwnHost(),
): Promise<Control> {
  const { config, database, log, sealer, logs, hostKey } = context
  // Reported now, and not by each certificate order.
  if (config.acmeRoots !== undefined)
    await readSettingFile(config.acmeRoots, 'STEAD_ACME_ROOTS', (text) => new X509Certificate(text))
  const budgets = openBudgets(controlBudgets(config))
  const own = createPartMetrics('control', { budgets, room: context.room })
  const installation = createInstallationMetrics({ database, schedules, version })
  const metrics = createApiMetrics([
    () => own.registry.getMetricsAsJSON(),
    () => installation.getMetricsAsJSON(),
    async () => (await processReports(database.read, Date.now())).flatMap((each) => each.metrics),
  ])
  const reserve = new DiskReserve({ folder: config.dataDir, bytes: config.diskReserveMb << 20, log })
  reserve.start()
  for (const folder of [config.dataDir, outboxOf(config)]) await removeLeftTemporaries(folder)
  let isIntroduced = false
  const codes = config.datacenters.map(({ code }) => code)
  const readiness = async () => {
    const known = ownHost.among(await hostReports(database.read), await readDatabaseTime(database))
    const disk = (await isWritable(config.dataDir)) ? reserve.room.state : 'read-only'
    const { reasons, ...verdict } = judgeReadiness({
      ...{ hosts: known, datacenters: codes, parts: parts(), disk, isIntroduced },
    })
    return {
      ...verdict,
      details: {
        reasons,
        database: database.dialect,
        disk: { state: disk, free_bytes: reserve.room.freeBytes },
        parts: parts(),
        hosts: known.map(describeHost),
      },
    }
  }
  const identity = await openIdentityOf(context, 'control')
  const backups = openBackups(context)
  const printPage = openPrinter(config)
  const ownChecks = checksOfControl(context, parts)
  const app = await createApp({
    ...{ config, database, sealer, backups, log, logs, metrics, budgets, version, readiness },
    printPage,
    sendPart: createSendPart(hostKey, identity?.trust),
    checks: keptFor(CHECKED_MS, () => ownChecks(true)),
  })
  await untilFree(config.apiListen, 'STEAD_API_LISTEN')
  const url = await app.listen(config.apiListen)
  const secure = await startSecureApi(context, app.server)
  const internal = await startInternalListener(context, identity?.trust)
  await database.transaction(async (tx) => {
    const first = await makeFirstAccount(tx, { email: config.accountEmail, now: Date.now() })
    await orderOwnNames(tx, config, Date.now())
    const known = await readCredentials(config.dataDir)
    const at = { panelUrl: config.panelUrl ?? url, apiListen: config.apiListen }
    const credentials: Partial<OwnerCredentials> = {
      ...known,
      ...(first && {
        client_id: first.application.clientId,
        client_secret: first.application.clientSecret,
        account_email: first.account.email,
        ...(config.panel === 'on' && {
          panel_link: await makeLink(tx, at, { accountId: first.account.id, kind: 'first', now: Date.now() }),
        }),
      }),
      api_url: url,
      edge_url: urlOf(config.edgeListen),
    }
    // Before the commit: an account whose secret was never stored would have no usable key.
    if (first || known)
      await writeFileDurably(credentialsFile(config.dataDir), `${JSON.stringify(credentials, null, 2)}\n`, 0o600)
  })
  isIntroduced = true
  const background = startBackground(context, { backups, printPage }, own.registry)
  log.info({ url }, 'the API listens')
  logProblems(log, ownChecks)
  return {
    url,
    async stop() {
      await Promise.all([app.close(), secure?.stop(), internal?.stop()])
      await background.stop()
      identity?.close()
      await reserve.stop()
    },
  }
}

const outboxOf = ({ dataDir }: Config): string => join(dataDir, 'outbox')

/** Starts the work that the control does without a request. */
function startBackground(
  context: ProcessContext,
  shared: Pick<ControlServices, 'backups' | 'printPage'>,
  registry: Registry,
): RunningRole {
  const { config, database, log, sealer, edgeSealer, logs, hostKey } = context
  const mailer = createMailer({
    smtpUrl: config.smtpUrl,
    from: config.mailFrom,
    outboxDir: outboxOf(config),
    panelUrl: panelAddress(config),
  })
  const services: ControlServices = {
    ...{ config, database, sealer, edgeSealer, mailer, logs, ...shared },
    masterKey: requireMasterKey(context),
    definitions: jobs,
    accountHooks,
    pluginDirectory: openPluginDirectory(config),
    edgeKey: hostKey,
  }
  const worker = createWorker({ database, definitions: controlJobs, runner: 'control', services, log })
  const scheduler = createScheduler({ database, schedules, log })
  const ended = createWebhookMetrics(registry, () => sender.underWay)
  const sender = new WebhookSender({ database, sealer, allowPrivate: config.allowPrivateFetch, log, ended })
  worker.start()
  scheduler.start()
  sender.start()
  return {
    async stop() {
      await scheduler.stop()
      await Promise.all([worker.stop(WORK_GRACE_MS), sender.stop(WORK_GRACE_MS)])
      mailer.close()
    },
  }
}
