import { createWebhook } from './create-webhook.ts'
import { deleteWebhook } from './delete-webhook.ts'
import { listWebhookDeliveries } from './delivery/list-deliveries.ts'
import { redeliver } from './delivery/redeliver.ts'
import { getWebhook } from './get-webhook.ts'
import { listEvents } from './list-events.ts'
import { listWebhooks } from './list-webhooks.ts'
import { testWebhook } from './test-webhook.ts'
import { updateWebhook } from './update-webhook.ts'

/** In the order of the API description. */
export const endpoints = [
  listWebhooks,
  createWebhook,
  getWebhook,
  updateWebhook,
  deleteWebhook,
  testWebhook,
  listWebhookDeliveries,
  redeliver,
  listEvents,
]
