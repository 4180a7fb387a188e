import { collectDefaultMetrics, Histogram, Registry } from 'prom-client'
import type { MetricReport } from '../metrics/part-metrics.ts'

export interface ApiMetrics {
  observe(operationId: string, status: number, seconds: number): void
  /** Returns each metric of each process that reports it. */
  reports(): Promise<readonly MetricReport[]>
  /** Returns the same for Prometheus. */
  collect(): Promise<{ contentType: string; text: string }>
}

/** Sums of other metrics, with a suffix that only counters may have. */
const misnamed = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total']

/**
 * Creates the content of `/metrics` in Prometheus' text format: Node's metrics, the requests of this process, and
 * others.
 * @param more further metrics; those that are not available at the moment are left out
 */
export function createApiMetrics(more: readonly (() => Promise<readonly MetricReport[]>)[] = []): ApiMetrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  for (const name of misnamed) registry.removeSingleMetric(name)
  const durations = new Histogram({
    name: 'stead_api_request_seconds',
    help: 'Time from the first byte of a request to the end of its response',
    labelNames: ['operation', 'status'],
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10],
    registers: [registry],
  })
  const sources = [() => registry.getMetricsAsJSON(), ...more]
  const read = async () => (await Promise.all(sources.map((source) => source().catch(() => [])))).flat()
  return {
    reports: read,
    observe: (operation, status, seconds) => durations.observe({ operation, status }, seconds),
    async collect() {
      return { contentType: Registry.PROMETHEUS_CONTENT_TYPE, text: await textOf(await read()) }
    },
  }
}

/** Joins the metrics that several processes report under the same name: one heading, with the values of all. */
async function textOf(reports: readonly MetricReport[]): Promise<string> {
  const byName = new Map<string, MetricReport>()
  for (const report of reports) {
    const first = byName.get(report.name)
    if (!first) byName.set(report.name, report)
    // A different type comes from a different version.
    else if (first.type === report.type)
      byName.set(report.name, { ...first, values: [...first.values, ...report.values] })
  }
  const all = new Registry()
  for (const report of byName.values()) all.registerMetric({ ...report, get: async () => report } as never)
  return all.metrics()
}
