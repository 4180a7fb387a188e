/** What other folders may import from this resource. */
export { type WebhookCounts, webhookCounts } from './counts.store.ts'
export { WebhookSender } from './delivery/sender.ts'
export { declareAccountEvents, declareEvents, type EventType } from './event.ts'
export { EventFeed } from './feed.ts'
export { createWebhookMetrics } from './webhook-metrics.ts'
