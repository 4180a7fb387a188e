import { controlBudgets, dnsBudgets, edgeBudgets, hostBudgets } from '../../src/budgets.ts'
import { readConfig } from '../../src/config.ts'
import { createDnsMetrics } from '../../src/dns/dns-metrics.ts'
import { createEdgeMetrics } from '../../src/edge/records/edge-metrics.ts'
import { watchHost } from '../../src/hosting/host-metrics.ts'
import { openBudgets } from '../../src/platform/budgets/budget.ts'
import type { Database } from '../../src/platform/db/database.ts'
import { createApiMetrics } from '../../src/platform/http/api-metrics.ts'
import { noLog } from '../../src/platform/log/log.ts'
import { createPartMetrics, type MetricReport } from '../../src/platform/metrics/part-metrics.ts'
import { createScheduler } from '../../src/platform/operations/schedule.ts'
import { createWebhookMetrics } from '../../src/resources/webhooks/webhook-metrics.ts'
import { createInstallationMetrics } from '../../src/roles/installation-metrics.ts'
import { schedules } from '../../src/schedules.ts'

const cache = {
  entries: 1,
  bytes: 2,
  heldBytes: 0,
  bodyBytes: 0,
  variants: 0,
  diskEntries: 3,
  diskBytes: 4,
  originFetches: 5,
}
const php = {
  processes: 1,
  spares: 2,
  busy: 3,
  waiting: 4,
  residentBytes: 5,
  crashes: 6,
  timeouts: 7,
  replaced: 8,
  refused: 9,
}

/** Returns the metrics that all kinds of processes report, and the text of `/metrics`. */
export async function allMetrics(database: Database): Promise<{ reports: MetricReport[]; text: string }> {
  const config = readConfig({})
  const room = { freeBytes: 1 }
  const control = createPartMetrics('control', { budgets: openBudgets(controlBudgets(config)), room })
  createWebhookMetrics(control.registry, () => 24)(true)
  const edge = createPartMetrics('edge', { budgets: openBudgets(edgeBudgets(config)), room })
  const edgeCounts = createEdgeMetrics(edge.registry, () => cache)
  edgeCounts.count({ cached: 'HIT', status: 200, body_bytes_sent: 100, request_time: 0.1, http_version: 'HTTP/2.0' })
  edgeCounts.metrics.handshake?.('TLSv1.3', false)
  const dns = createPartMetrics('dns', { budgets: openBudgets(dnsBudgets(config)), room })
  createDnsMetrics(dns.registry, { zones: () => 21, notices: () => 22 }).answered(0, { address: '', transport: 'udp' })
  const host = createPartMetrics('host', { budgets: openBudgets(hostBudgets(config)), room })
  watchHost(host.registry, {
    php: () => php,
    cron: () => ({ runs: 10, failures: 11, due: 12 }),
    mail: () => ({ waiting: 15, taken: 16, sent: 17, kept: 18, failed: 19, refused: 20 }),
    sftp: () => ({ connections: 21, logins: 22, refused: { limit: 23, banned: 24, login: 25 } }),
    lostSites: () => 13,
    quarantinedDirectories: () => 14,
    mariaDb: () => ({ isUp: true, restarts: 26, databases: 27, connections: 28, slow: 29, ended: 30 }),
  })
  const values = { name: 'host-1', address: '', datacenters: '', facts: '{}', max_sites: 100, seen_at: 1 }
  await database.transaction((tx) => tx.insertInto('hosts').values(values).execute())
  const installation = createInstallationMetrics({ database, schedules, version: '1.2.3' })
  // a new schedule starts with its next slot: nothing is enqueued
  await createScheduler({ database, schedules, log: noLog }).tick()
  const registries = [control.registry, edge.registry, dns.registry, host.registry, installation]
  const reports = (await Promise.all(registries.map((each) => each.getMetricsAsJSON()))).flat()
  const metrics = createApiMetrics([async () => reports])
  metrics.observe('listSites', 200, 0.01)
  return { reports, text: (await metrics.collect()).text }
}
