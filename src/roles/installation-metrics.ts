import { Registry } from 'prom-client'
import type { Database } from '../platform/db/database.ts'
import { keptFor } from '../platform/kept-for.ts'
import { sendMail } from '../platform/mail/send-mail.job.ts'
import { type LabeledValue, only, watch } from '../platform/metrics/watched.ts'
import { lastSlots, type OperationCounts, operationCounts } from '../platform/operations/counts.ts'
import type { Schedule } from '../platform/operations/schedule.ts'
import { readDatabaseTime } from '../platform/operations/worker/lease.ts'
import { type CertificateCounts, certificateCounts } from '../resources/certificates/certificate-counts.store.ts'
import { backedUpAt, type Housing, listHousing } from '../resources/installation/installation.store.ts'
import { countSites } from '../resources/sites/show/site-counts.store.ts'
import { type WebhookCounts, webhookCounts } from '../resources/webhooks/webhook-counts.store.ts'

/** How long callers get the same answer. Anyone who reaches the API's port can ask. */
const FRESH_MS = 5_000

const siteStates = ['deploying', 'cloning', 'live', 'disabled'] as const
const operationStates = ['queued', 'running', 'succeeded', 'failed', 'canceled'] as const
const runners = ['control', 'host'] as const

interface Facts {
  readonly sites: Awaited<ReturnType<typeof countSites>>
  readonly operations: OperationCounts
  readonly slots: ReadonlyMap<string, number>
  readonly backedUpAt: number | null
  readonly webhooks: WebhookCounts
  readonly certificates: CertificateCounts
  /** All hosts that were not removed. */
  readonly hosts: readonly Housing[]
  /** Time of the database, milliseconds UTC. */
  readonly now: number
}

interface Options {
  readonly database: Database
  readonly schedules: readonly Schedule[]
  readonly version: string
}

/** Returns metrics of the whole installation from the database. Every API process shows the same. */
export function createInstallationMetrics({ database, schedules, version }: Options): Registry {
  const registry = new Registry()
  const facts = keptFor(FRESH_MS, () => readFacts(database))
  const gauge = <Label extends string = never>(
    name: string,
    help: string,
    labels: readonly Label[],
    read: (facts: Facts) => Iterable<LabeledValue<Label>>,
  ) => watch(registry, { name: `stead_${name}`, help, type: 'gauge', labels }, async () => read(await facts()))

  watch(registry, { name: 'stead_info', help: 'Version of Stead', type: 'gauge', labels: ['version'] }, () => [
    [{ version }, 1],
  ])
  gauge('sites', 'Sites by state', ['state'], ({ sites }) =>
    siteStates.map((state) => [{ state }, sites.find((each) => each.state === state)?.count ?? 0]),
  )
  gauge('operations', 'Operations by state: queued, running, and ended in the last hour', ['state'], ({ operations }) =>
    byState(operations, () => true),
  )
  gauge('mails', 'Mails by state: queued, sending, and sent or failed in the last hour', ['state'], ({ operations }) =>
    byState(operations, (type) => type === sendMail.name),
  )
  gauge(
    'webhooks',
    'Webhooks by state: last attempt succeeded, last attempt failed, or disabled',
    ['state'],
    ({ webhooks }) => (['well', 'failing', 'disabled'] as const).map((state) => [{ state }, webhooks[state]]),
  )
  gauge('webhook_deliveries_due', 'Events for webhooks that are due', [], ({ webhooks }) => only(webhooks.due))
  gauge('webhook_oldest_due_seconds', 'Waiting time of the oldest due event for a webhook', [], ({ webhooks }) =>
    only(webhooks.oldestSeconds),
  )
  const due = ({ operations }: Facts, runner: string) => operations.due.find((each) => each.runner === runner)
  gauge('operations_due', 'Operations that are due but not started', ['runner'], (all) =>
    runners.map((runner) => [{ runner }, due(all, runner)?.count ?? 0]),
  )
  gauge('operations_oldest_due_seconds', 'Waiting time of the oldest due operation', ['runner'], (all) =>
    runners.map((runner) => [{ runner }, due(all, runner)?.oldestSeconds ?? 0]),
  )
  gauge(
    'schedule_last_slot_timestamp_seconds',
    'Time of the last start of recurring work, in seconds since 1970',
    ['schedule'],
    (all) =>
      schedules.flatMap(({ name: schedule }) => {
        const slot = all.slots.get(schedule)
        return slot === undefined ? [] : [[{ schedule }, slot / 1000] as const]
      }),
  )
  gauge(
    'records_backup_timestamp_seconds',
    'Time of the last backup of the control database, in seconds since 1970. 0 if never',
    [],
    (all) => only((all.backedUpAt ?? 0) / 1000),
  )
  showCertificates(gauge)
  showHosts(gauge)
  gauge('schedule_interval_seconds', 'Interval between starts of recurring work', ['schedule'], () =>
    schedules.map(({ name: schedule, everyMs }) => [{ schedule }, everyMs / 1000]),
  )
  return registry
}

type Gauge = <Label extends string = never>(
  name: string,
  help: string,
  labels: readonly Label[],
  read: (facts: Facts) => Iterable<LabeledValue<Label>>,
) => void

function showCertificates(gauge: Gauge): void {
  gauge('certificates_ended', 'Expired certificates without a replacement', [], ({ certificates }) =>
    only(certificates.ended),
  )
  gauge('certificates_failing', 'Names whose last certificate request failed', [], ({ certificates }) =>
    only(certificates.failing),
  )
  gauge(
    'certificate_first_end_timestamp_seconds',
    'Earliest expiry of a certificate, in seconds since 1970. 0 without certificates',
    [],
    ({ certificates }) => only((certificates.firstEndAt ?? 0) / 1000),
  )
}

function showHosts(gauge: Gauge): void {
  const shown = ['active', 'cordoned', 'draining', 'drained', 'lost'] as const
  gauge('host_state', 'Hosts by state: 1 for the state that a host has', ['host', 'state'], (all) =>
    all.hosts.flatMap((host) =>
      shown.map((state) => [{ host: host.name, state }, host.state === state ? 1 : 0] as const),
    ),
  )
  gauge(
    'host_seen_seconds',
    'Time since the last report of a host that may run. +Inf if it was stopped',
    ['host'],
    ({ hosts, now }) =>
      hosts
        .filter(({ state }) => state !== 'lost')
        .map(
          ({ name: host, seenAt }) => [{ host }, seenAt === 0 ? Infinity : Math.max(0, now - seenAt) / 1000] as const,
        ),
  )
  gauge('host_sites', 'Sites on a host, without those in the trash', ['host'], ({ hosts }) =>
    hosts.map(({ name: host, sites }) => [{ host }, sites] as const),
  )
  gauge('host_max_sites', 'Maximum number of sites on a host', ['host'], ({ hosts }) =>
    hosts.map(({ name: host, maxSites }) => [{ host }, maxSites] as const),
  )
}

function byState({ counts }: OperationCounts, isOfType: (type: string) => boolean): LabeledValue<'state'>[] {
  return operationStates.map((state) => {
    const those = counts.filter((each) => each.state === state && isOfType(each.type))
    return [{ state }, those.reduce((sum, { count }) => sum + count, 0)]
  })
}

async function readFacts(database: Database): Promise<Facts> {
  const now = await readDatabaseTime(database)
  const [sites, operations, slots, backedUp, webhooks, certificates, hosts] = await Promise.all([
    countSites(database.read),
    operationCounts(database.read, now),
    lastSlots(database.read),
    backedUpAt(database.read),
    webhookCounts(database.read, now),
    certificateCounts(database.read, now),
    listHousing(database.read),
  ])
  return { sites, operations, slots, backedUpAt: backedUp, webhooks, certificates, hosts, now }
}
