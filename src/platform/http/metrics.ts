import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { ProcessReport } from '../processes/process.store.ts'

export interface ApiMetrics {
  readonly registry: Registry
  observe(operationId: string, status: number, seconds: number): void
  collect(): Promise<{ contentType: string; text: string }>
}

/**
 * Figures of one process, in Prometheus' text form.
 * @param own what this process says of itself: shown also when the others cannot be asked
 * @param others the other processes of the installation
 */
export function createApiMetrics(
  own: () => readonly ProcessReport[] = () => [],
  others: () => Promise<readonly ProcessReport[]> = async () => [],
): ApiMetrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const durations = new Histogram({
    name: 'stead_api_request_seconds',
    help: 'Time from the first byte of a request to the end of its response',
    labelNames: ['operation', 'status'],
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10],
    registers: [registry],
  })
  const show = createBudgetGauges(registry)
  return {
    registry,
    observe: (operation, status, seconds) => durations.observe({ operation, status }, seconds),
    async collect() {
      show([...own(), ...(await others().catch(() => []))])
      return { contentType: registry.contentType, text: await registry.metrics() }
    },
  }
}

/** What `docs/design/limits.md` lists, as it is now in each process. */
function createBudgetGauges(registry: Registry): (processes: readonly ProcessReport[]) => void {
  const gauge = (name: string, help: string, labelNames = ['part', 'process', 'budget']) =>
    new Gauge({ name, help, labelNames, registers: [registry] })
  const used = gauge('stead_budget_used', 'What of a budget is in use (bytes, or a number of things)')
  const limit = gauge('stead_budget_limit', 'What a budget allows all together')
  const largest = gauge('stead_budget_largest_share', 'What the site, address or application that has most has')
  const share = gauge('stead_budget_share_limit', 'What one site, address or application may have')
  const refusals = gauge('stead_budget_refusals', 'How often somebody wanted more since the process started')
  const resident = gauge('stead_process_resident_bytes', 'Memory of a process of Stead', ['part', 'process'])
  const all = [used, limit, largest, share, refusals, resident]
  return (processes) => {
    for (const each of all) each.reset()
    for (const { part, id: process, residentBytes, budgets } of processes) {
      resident.set({ part, process }, residentBytes)
      for (const { name: budget, ...figures } of budgets) {
        const labels = { part, process, budget }
        used.set(labels, figures.used)
        limit.set(labels, figures.limit)
        largest.set(labels, figures.largestShare)
        share.set(labels, figures.shareLimit)
        refusals.set(labels, figures.refusals)
      }
    }
  }
}
