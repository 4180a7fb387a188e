import type { Registry } from 'prom-client'
import { only, watch } from '../platform/metrics/watched.ts'
import type { CronStats } from './cron/cron.ts'
import type { ServerMetrics } from './mariadb/watch/site-watch.ts'
import type { PoolStats } from './php/pool/pool.ts'
import type { SftpMetrics } from './sftp/sftp-server.ts'
import type { MailFigures } from './site-mail/mail-sender.ts'

interface Sources {
  readonly php: () => PoolStats
  readonly cron: () => CronStats
  readonly mail: () => MailFigures
  readonly sftp: () => SftpMetrics
  /** The number of sites whose database or directory is gone. */
  readonly lostSites: () => number
  readonly quarantinedDirectories: () => number
  /** Returns undefined if this host has no MariaDB. */
  readonly mariaDb: () => ServerMetrics | undefined
}

/** Adds the metrics of a host: PHP and its queue, WordPress cron, SFTP, and problems on the disk. */
export function watchHost(registry: Registry, sources: Sources): void {
  const { php, cron, mail, sftp, lostSites, quarantinedDirectories } = sources
  watchMariaDb(registry, sources.mariaDb)
  const gauge = (name: string, help: string, read: () => number) =>
    watch(registry, { name: `stead_${name}`, help, type: 'gauge' }, () => only(read()))
  const counter = (name: string, help: string, read: () => number) =>
    watch(registry, { name: `stead_${name}_total`, help, type: 'counter' }, () => only(read()))
  watch(
    registry,
    { name: 'stead_php_processes', help: 'PHP processes by purpose', type: 'gauge', labels: ['kind'] },
    () => {
      const { processes, spares } = php()
      return [
        [{ kind: 'site' }, processes],
        [{ kind: 'spare' }, spares],
      ]
    },
  )
  gauge('php_busy', 'Sites whose PHP is busy', () => php().busy)
  gauge('php_requests_waiting', 'Requests waiting for the PHP of their site', () => php().waiting)
  gauge('php_resident_bytes', 'Memory of all PHP processes', () => php().residentBytes)
  watch(
    registry,
    {
      name: 'stead_php_ended_total',
      help: 'PHP processes that were killed or crashed',
      type: 'counter',
      labels: ['reason'],
    },
    () => {
      const { crashes, timeouts, replaced } = php()
      return [
        [{ reason: 'crash' }, crashes],
        [{ reason: 'timeout' }, timeouts],
        [{ reason: 'replaced' }, replaced],
      ]
    },
  )
  counter('php_refused_requests', 'Requests rejected because the queue of their site was full', () => php().refused)
  counter('cron_runs', 'Runs of scheduled events of WordPress', () => cron().runs)
  counter('cron_failures', 'Runs of scheduled events of WordPress that failed', () => cron().failures)
  gauge('cron_sites_due', 'Sites with due events at the last check', () => cron().due)
  watch(
    registry,
    {
      name: 'stead_site_mails_total',
      help: 'Mails of sites by result: accepted from PHP, rejected, sent, kept as files, and permanently failed recipients',
      type: 'counter',
      labels: ['result'],
    },
    () => {
      const { waiting: _, ...counts } = mail()
      return Object.entries(counts).map(([result, count]) => [{ result }, count])
    },
  )
  gauge('site_mails_waiting', 'Mails of sites waiting to be sent', () => mail().waiting)
  gauge('sftp_connections', 'SFTP connections of logged-in users', () => sftp().connections)
  counter('sftp_logins', 'Log-ins of SFTP users', () => sftp().logins)
  watch(
    registry,
    {
      name: 'stead_sftp_refused_total',
      help: 'Rejected SFTP connections: over a limit, from guessing addresses, and with wrong passwords or keys',
      type: 'counter',
      labels: ['reason'],
    },
    () => Object.entries(sftp().refused).map(([reason, count]) => [{ reason }, count]),
  )
  gauge('sites_lost', 'Sites whose database or folder is missing', lostSites)
  gauge('homes_set_aside', 'Site directories that the database does not know', quarantinedDirectories)
}

function watchMariaDb(registry: Registry, mariaDb: Sources['mariaDb']): void {
  const one = (name: string, help: string, type: 'gauge' | 'counter', read: (metrics: ServerMetrics) => number) =>
    watch(registry, { name: `stead_mariadb_${name}`, help, type }, () => {
      const metrics = mariaDb()
      return metrics ? only(read(metrics)) : []
    })
  one('up', 'Whether the MariaDB of the host responds: 1 or 0', 'gauge', ({ isUp }) => Number(isUp))
  one('restarts_total', 'Restarts of MariaDB after it ended unexpectedly', 'counter', ({ restarts }) => restarts)
  one('databases', 'Databases of sites on MariaDB', 'gauge', ({ databases }) => databases)
  one('connections', 'Connections of sites to MariaDB', 'gauge', ({ connections }) => connections)
  one('slow_statements_total', 'Statements of sites that took longer than a second', 'counter', ({ slow }) => slow)
  one(
    'ended_statements_total',
    'Statements of sites that were stopped because they took too long',
    'counter',
    ({ ended }) => ended,
  )
}
