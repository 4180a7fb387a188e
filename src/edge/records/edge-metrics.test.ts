import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { createEdgeMetrics } from './edge-metrics.ts'

const cache = {
  entries: 0,
  bytes: 0,
  heldBytes: 0,
  bodyBytes: 0,
  variants: 0,
  diskEntries: 0,
  diskBytes: 0,
  originFetches: 0,
}
const made = () => {
  const registry = new Registry()
  return { registry, ...createEdgeMetrics(registry, () => cache) }
}

test('counts requests by status and cache, and bytes and times by cache', async () => {
  const { registry, count, metrics } = made()
  const entry = { cached: 'HIT', status: 200, body_bytes_sent: 1000, request_time: 0.3, http_version: 'HTTP/2.0' }
  count(entry)
  count(entry)
  count({ ...entry, cached: '', status: 503, request_time: 30, http_version: 'HTTP/1.1' })
  metrics.hostFailure?.('ECONNREFUSED')
  metrics.hostFailure?.('HOST_HEAD_TIMEOUT')
  metrics.handshake?.('TLSv1.3', true)
  metrics.handshakeFailure?.('timeout')
  const text = await registry.metrics()
  for (const line of [
    'stead_edge_requests_total{status="2xx",cache="hit"} 2',
    'stead_edge_requests_total{status="5xx",cache="none"} 1',
    'stead_edge_http_requests_total{version="2"} 2',
    'stead_edge_http_requests_total{version="1.1"} 1',
    'stead_edge_tls_handshakes_total{version="1.3",resumed="yes"} 1',
    'stead_edge_tls_failures_total{reason="timeout"} 1',
    'stead_edge_tls_failures_total{reason="unknown_name"} 0',
    'stead_edge_sent_bytes_total{cache="hit"} 2000',
    'stead_edge_request_seconds_bucket{le="0.2",cache="hit"} 0',
    'stead_edge_request_seconds_bucket{le="1",cache="hit"} 2',
    'stead_edge_request_seconds_count{cache="none"} 1',
    'stead_edge_host_failures_total{reason="unreachable"} 1',
    'stead_edge_host_failures_total{reason="timeout"} 1',
    'stead_edge_host_failures_total{reason="broken"} 0',
  ])
    expect(text).toContain(`${line}\n`)
})

test('keeps the number of series bounded, whatever sites and visitors send', async () => {
  const { registry, count, metrics } = made()
  for (let n = 0; n < 2_000; n++) {
    count({ cached: `WORD-${n}`, status: n, body_bytes_sent: 1, request_time: n, http_version: `HTTP/${n}` })
    metrics.hostFailure?.(`E${n}`)
    metrics.handshake?.(`TLSv${n}`, n % 2 === 0)
  }
  const series = (await registry.metrics()).split('\n').filter((line) => line && !line.startsWith('#'))
  expect(series.length).toBeLessThan(50)
})
