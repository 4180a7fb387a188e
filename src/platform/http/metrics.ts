import { collectDefaultMetrics, Histogram, Registry } from 'prom-client'

export interface ApiMetrics {
  readonly registry: Registry
  observe(operationId: string, status: number, seconds: number): void
  collect(): Promise<{ contentType: string; text: string }>
}

/** Figures of one process, in Prometheus' text form. */
export function createApiMetrics(): ApiMetrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const durations = new Histogram({
    name: 'stead_api_request_seconds',
    help: 'Time from the first byte of a request to the end of its response',
    labelNames: ['operation', 'status'],
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10],
    registers: [registry],
  })
  return {
    registry,
    observe: (operation, status, seconds) => durations.observe({ operation, status }, seconds),
    collect: async () => ({ contentType: registry.contentType, text: await registry.metrics() }),
  }
}
