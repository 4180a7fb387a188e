import { Counter, Histogram, type Registry } from 'prom-client'
import { only, watch } from '../../platform/metrics/watched.ts'
import type { CacheMetrics } from '../cache/page-cache.ts'
import type { EdgeMetrics } from '../gateway/gateway.ts'
import { handshakeFailures } from '../tls/handshake-failures.ts'
import type { HandshakeMetrics } from '../tls/secure-server.ts'
import type { AccessEntry } from './access-log.ts'

/** The edge's counts of visitors' requests. */
export interface EdgeCounts {
  /** Called when an answer was sent, or its visitor has left. */
  count(entry: Pick<AccessEntry, 'cached' | 'status' | 'body_bytes_sent' | 'request_time' | 'http_version'>): void
  /** For the gateway. */
  readonly metrics: EdgeMetrics
}

/**
 * Adds the metrics of an edge process. Sites and visitors choose statuses and words freely, so each is mapped to one of
 * a few labels.
 */
export function createEdgeMetrics(registry: Registry, cache: () => CacheMetrics): EdgeCounts {
  const registers = [registry]
  const requests = new Counter({
    name: 'stead_edge_requests_total',
    help: 'Requests of visitors by status class and cache status',
    labelNames: ['status', 'cache'],
    registers,
  })
  const bytes = new Counter({
    name: 'stead_edge_sent_bytes_total',
    help: 'Bytes of response bodies sent to visitors',
    labelNames: ['cache'],
    registers,
  })
  const durations = new Histogram({
    name: 'stead_edge_request_seconds',
    help: "Time from the header of a visitor's request to the end of the response",
    labelNames: ['cache'],
    buckets: [0.001, 0.01, 0.05, 0.2, 1, 5, 20],
    registers,
  })
  const failures = new Counter({
    name: 'stead_edge_host_failures_total',
    help: 'Requests to hosts that failed',
    labelNames: ['reason'],
    registers,
  })
  for (const reason of failureReasons) failures.inc({ reason }, 0)
  const versions = new Counter({
    name: 'stead_edge_http_requests_total',
    help: 'Requests of visitors by HTTP version',
    labelNames: ['version'],
    registers,
  })
  watchCache(registry, cache)
  return {
    count({ cached, status, body_bytes_sent, request_time, http_version }) {
      versions.inc({ version: httpVersions[http_version] ?? 'other' })
      const part = cacheParts[cached] ?? 'other'
      requests.inc({ status: statusClass(status), cache: part })
      bytes.inc({ cache: part }, body_bytes_sent)
      durations.observe({ cache: part }, request_time)
    },
    metrics: {
      hostFailure: (code) => failures.inc({ reason: failureReason(code) }),
      ...createHandshakeMetrics(registry),
    },
  }
}

function createHandshakeMetrics(registry: Registry): HandshakeMetrics {
  const registers = [registry]
  const handshakes = new Counter({
    name: 'stead_edge_tls_handshakes_total',
    help: 'TLS connections by version, and whether they resumed a session',
    labelNames: ['version', 'resumed'],
    registers,
  })
  const failures = new Counter({
    name: 'stead_edge_tls_failures_total',
    help: 'TLS connections that failed during the handshake',
    labelNames: ['reason'],
    registers,
  })
  for (const reason of handshakeFailures) failures.inc({ reason }, 0)
  return {
    handshake: (version, isResumed) =>
      handshakes.inc({ version: tlsVersions[version] ?? 'other', resumed: isResumed ? 'yes' : 'no' }),
    handshakeFailure: (reason) => failures.inc({ reason }),
  }
}

const tlsVersions: Readonly<Record<string, string>> = { 'TLSv1.2': '1.2', 'TLSv1.3': '1.3' }
const httpVersions: Readonly<Record<string, string>> = { 'HTTP/1.0': '1.0', 'HTTP/1.1': '1.1', 'HTTP/2.0': '2' }

function watchCache(registry: Registry, cache: () => CacheMetrics): void {
  watch(
    registry,
    { name: 'stead_edge_cache_entries', help: 'Pages and files in the cache', type: 'gauge', labels: ['tier'] },
    () => [
      [{ tier: 'memory' }, cache().entries],
      [{ tier: 'disk' }, cache().diskEntries],
    ],
  )
  watch(
    registry,
    {
      name: 'stead_edge_cache_bytes',
      help: 'Size of the pages and files in the cache',
      type: 'gauge',
      labels: ['tier'],
    },
    () => [
      [{ tier: 'memory' }, cache().bytes],
      [{ tier: 'disk' }, cache().diskBytes],
    ],
  )
  watch(
    registry,
    {
      name: 'stead_edge_cache_copies',
      help: 'Pages and files in memory that are one of several variants of a URL, which differ by request headers',
      type: 'gauge',
    },
    () => only(cache().variants),
  )
  watch(
    registry,
    { name: 'stead_edge_cache_fills', help: 'Pages and files that the cache is fetching', type: 'gauge' },
    () => only(cache().originFetches),
  )
}

/** By the words of the access log. */
const cacheParts: Readonly<Record<string, string>> = {
  '': 'none',
  HIT: 'hit',
  MISS: 'miss',
  STALE: 'stale',
  BYPASS: 'bypass',
}

const statusClass = (status: number): string =>
  status >= 100 && status < 600 ? `${Math.floor(status / 100)}xx` : 'other'

const failureReasons = ['unreachable', 'broken', 'timeout', 'other'] as const

function failureReason(code: string): (typeof failureReasons)[number] {
  if (/^(?:ECONNREFUSED|EHOST|ENET|ENOTFOUND|HOST_CONNECT)/.test(code)) return 'unreachable'
  if (/^(?:ECONNRESET|EPIPE|HOST_CLOSED)/.test(code)) return 'broken'
  return /TIMEOUT|ETIMEDOUT/.test(code) ? 'timeout' : 'other'
}
