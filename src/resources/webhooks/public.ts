/** What other folders may import from this resource. */

export { WebhookSender } from './delivery/webhook-sender.ts'
export { declareAccountEvents, declareEvents, type EventType } from './event.ts'
export { EventFeed } from './event-feed.ts'
export { urlFault } from './webhook.ts'
export { type WebhookCounts, webhookCounts } from './webhook-counts.store.ts'
export { createWebhookMetrics } from './webhook-metrics.ts'
