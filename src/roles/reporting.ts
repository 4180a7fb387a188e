import type { PartMetrics } from '../platform/metrics/part-metrics.ts'
import { forgetProcess, reportProcess } from '../platform/processes/process.store.ts'
import type { RoleIdentity } from './certificates/role-certificate.ts'
import type { ProcessContext, RunningRole } from './process-context.ts'

const EVERY_MS = 10_000

/**
 * Sends the metrics of this process to the API's `/metrics` through the database. Nothing depends on them. Hosts read
 * from the same report whether an edge has a certificate.
 */
export function startReporting(
  { database, log }: ProcessContext,
  { id, part, registry }: PartMetrics,
  identity?: Pick<RoleIdentity, 'serial'> | undefined,
): RunningRole {
  let reporting: Promise<void> = Promise.resolve()
  const report = async () => {
    const metrics = await registry.getMetricsAsJSON()
    await database.transaction((tx) => reportProcess(tx, { id, part, metrics, serial: identity?.serial() }, Date.now()))
  }
  const reportInTurn = () => {
    reporting = reporting
      .then(report)
      .catch((error) => log.debug({ err: error }, 'could not write the metrics of this process'))
  }
  // A process that died before may have left a row.
  reporting = database.transaction((tx) => forgetProcess(tx, id, Date.now())).catch(() => {})
  reportInTurn()
  const timer = setInterval(reportInTurn, EVERY_MS)
  return {
    async stop() {
      clearInterval(timer)
      await reporting
      await database.transaction((tx) => forgetProcess(tx, id, Date.now())).catch(() => {})
    },
  }
}
