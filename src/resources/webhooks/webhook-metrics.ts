import { Counter, type Registry } from 'prom-client'
import { only, watch } from '../../platform/metrics/watched.ts'

/**
 * Adds the metrics of a process that sends events.
 * @param underWay returns the number of attempts in progress
 * @returns a function to call with how each attempt ended
 */
export function createWebhookMetrics(registry: Registry, underWay: () => number): (isGood: boolean) => void {
  const attempts = new Counter({
    name: 'stead_webhook_attempts_total',
    help: 'Attempts to send an event to a webhook, by result',
    labelNames: ['result'],
    registers: [registry],
  })
  watch(
    registry,
    { name: 'stead_webhook_attempts_under_way', help: 'Running attempts to send an event', type: 'gauge' },
    () => only(underWay()),
  )
  return (isGood) => attempts.inc({ result: isGood ? 'delivered' : 'failed' })
}
