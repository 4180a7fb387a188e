import Type from 'typebox'
import { nullable, oneOf, Timestamp, timestamp } from '../../platform/http/schemas.ts'
import type { MetricReport } from '../../platform/metrics/part-metrics.ts'
import type { Housing } from './installation.store.ts'
import { InstallationNames } from './installation-names.ts'

/** A host that has not reported for this long counts as silent. */
const SILENT_MS = 60_000

const count = { count: Type.Integer({ examples: [3] }) }
const Seconds = Type.Integer({ examples: [0] })

export const InstallationHealth = Type.Object(
  {
    version: nullable(Type.String({ examples: ['0.1.0'] })),
    sites: Type.Array(Type.Object({ state: Type.String({ examples: ['live'] }), ...count }, { title: 'SitesInState' })),
    hosts: Type.Array(
      Type.Object(
        {
          id: Type.Integer(),
          name: Type.String({ examples: ['host-1'] }),
          sites: Type.Integer({ description: 'Number of sites on the host, without those in the trash' }),
          max_sites: Type.Integer({ description: 'Maximum number of sites on the host', examples: [100] }),
          deleted_sites: Type.Integer({
            description: 'Number of deleted sites in the trash of the host',
          }),
          deleted_until: nullable(
            Type.String({ ...Timestamp, description: 'When the trash of the host is empty. Null if it is empty now' }),
          ),
          seen_at: nullable(Timestamp),
          answers: Type.Boolean({ description: 'Whether the host reported in the last minute' }),
          state: oneOf(['active', 'cordoned', 'draining', 'drained', 'lost'], {
            description:
              '`active` hosts get new sites. `cordoned` hosts keep their sites but get no new ones. The sites of `draining` hosts move to other hosts. `drained` hosts are cordoned and empty. The sites of `lost` hosts are recovered on other hosts.',
            examples: ['active'],
          }),
          drain: nullable(
            Type.Object(
              {
                operation: Type.Integer({ description: 'Id of the operation', examples: [7] }),
                paused: Type.Boolean({
                  description: 'Whether it is paused, so that no move begins',
                  examples: [false],
                }),
              },
              {
                title: 'HostDrain',
                description: 'Operation that moves the sites of a `draining` host. Null for other hosts',
              },
            ),
          ),
        },
        { title: 'HostHealth' },
      ),
    ),
    operations: Type.Array(
      Type.Object({ state: Type.String({ examples: ['queued'] }), ...count }, { title: 'OperationsInState' }),
      { description: 'Queued and running operations, and those that ended in the last hour' },
    ),
    queues: Type.Array(
      Type.Object(
        {
          runner: Type.String({
            description: 'Which process runs the operations: hosts or control',
            examples: ['host'],
          }),
          due: Type.Integer({ description: 'Number of operations that are due but not started' }),
          oldest_seconds: Seconds,
        },
        { title: 'QueueHealth' },
      ),
    ),
    webhooks: Type.Object(
      {
        due: Type.Integer({ description: 'Number of events that are due' }),
        oldest_seconds: Seconds,
        failing: Type.Integer(),
        disabled: Type.Integer(),
      },
      { title: 'WebhooksHealth' },
    ),
    certificates: Type.Object(
      {
        failing: Type.Integer({ description: 'Names whose last attempt failed' }),
        ended: Type.Integer({ description: 'Expired certificates without a replacement' }),
        first_end: nullable(Timestamp),
      },
      { title: 'CertificatesHealth' },
    ),
    records_backed_up: nullable(Timestamp),
    names: InstallationNames,
    processes: Type.Array(
      Type.Object(
        {
          process: Type.String({ examples: ['control-3f09c1a2b4d6'] }),
          part: Type.String({ examples: ['control'] }),
          resident_bytes: Type.Integer({ examples: [120000000] }),
          disk_free_bytes: Type.Integer({ examples: [50000000000] }),
          budgets: Type.Array(
            Type.Object(
              {
                name: Type.String({ examples: ['request_bodies'] }),
                used: Type.Number({ description: 'Current value in bytes or items' }),
                limit: Type.Number({ examples: [67108864] }),
                refusals: Type.Integer({ description: 'Since the process started' }),
              },
              { title: 'BudgetHealth' },
            ),
          ),
        },
        { title: 'ProcessHealth' },
      ),
    ),
  },
  {
    title: 'InstallationHealth',
    description: 'Most important metrics of `/metrics`, at most ten seconds old',
  },
)
/** Health without the parts that the endpoint adds to the metrics. */
type Figures = Omit<Type.Static<typeof InstallationHealth>, 'names'>

/**
 * Returns the health of the installation.
 * @param reports current content of `/metrics`
 * @param now of the database, milliseconds UTC
 */
export function healthOf(reports: readonly MetricReport[], hosts: readonly Housing[], now: number): Figures {
  const all = (name: string) =>
    reports
      .filter((report) => report.name === `stead_${name}`)
      .flatMap(({ values }) => values)
      .map(({ labels, value }) => ({ labels: labels as Readonly<Record<string, string | undefined>>, value }))
  const sum = (name: string, labels: Readonly<Record<string, string | undefined>> = {}) =>
    all(name)
      .filter((each) => Object.entries(labels).every(([label, value]) => each.labels[label] === value))
      .reduce((total, { value }) => total + value, 0)
  const byState = (name: string) => all(name).map(({ labels, value }) => ({ state: labels.state ?? '', count: value }))
  const timeOf = (name: string) => (sum(name) === 0 ? null : timestamp(Math.round(sum(name) * 1000)))
  return {
    version: all('info')[0]?.labels.version ?? null,
    sites: byState('sites'),
    hosts: hosts.map(({ id, name, sites, maxSites, trash, seenAt, state, drain }) => ({
      id,
      name,
      sites,
      max_sites: maxSites,
      deleted_sites: trash.sites,
      deleted_until: trash.until === null ? null : timestamp(trash.until),
      seen_at: seenAt === 0 ? null : timestamp(seenAt),
      answers: Math.abs(now - seenAt) < SILENT_MS,
      state,
      drain: drain && state === 'draining' ? { operation: drain.id, paused: drain.isPaused } : null,
    })),
    operations: byState('operations'),
    queues: all('operations_due').map(({ labels: { runner = '' }, value }) => ({
      runner,
      due: value,
      oldest_seconds: Math.round(sum('operations_oldest_due_seconds', { runner })),
    })),
    webhooks: {
      due: sum('webhook_deliveries_due'),
      oldest_seconds: Math.round(sum('webhook_oldest_due_seconds')),
      failing: sum('webhooks', { state: 'failing' }),
      disabled: sum('webhooks', { state: 'disabled' }),
    },
    certificates: {
      failing: sum('certificates_failing'),
      ended: sum('certificates_ended'),
      first_end: timeOf('certificate_first_end_timestamp_seconds'),
    },
    records_backed_up: timeOf('records_backup_timestamp_seconds'),
    processes: all('process_resident_bytes').map(({ labels: { process, part = '' }, value }) => ({
      process: process ?? '',
      part,
      resident_bytes: value,
      disk_free_bytes: sum('disk_free_bytes', { process }),
      budgets: all('budget_limit')
        .filter(({ labels }) => labels.process === process)
        .map(({ labels: { budget = '' }, value: limit }) => ({
          name: budget,
          used: sum('budget_used', { process, budget }),
          limit,
          refusals: sum('budget_refusals_total', { process, budget }),
        })),
    })),
  }
}
