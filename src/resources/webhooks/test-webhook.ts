import Type from 'typebox'
import { notFound, Problem } from '../../platform/http/problem.ts'
import { actions } from '../account/public.ts'
import { endpoint } from '../kit/endpoint.ts'
import { countAside, insertAside } from './delivery/delivery.store.ts'
import { DeliverySchema, presentDelivery } from './delivery/delivery.ts'
import { MOST_ASIDE } from './delivery/delivery-limits.ts'
import { problems } from './problems.ts'
import { holdWebhook } from './webhook.store.ts'
import { testMessageId, WebhookId } from './webhook.ts'

export const testWebhook = endpoint({
  id: 'testWebhook',
  method: 'POST',
  path: '/v1/webhooks/{id}/test',
  summary: 'Send a test to a webhook',
  description:
    'Sends a signed event of type `test` immediately and once, even if the webhook is disabled. See the result in the deliveries of the webhook.',
  access: { account: 'own' },
  params: Type.Object({ id: WebhookId }),
  response: DeliverySchema,
  problems: [problems.too_many_deliveries],

  async handle(context, { params }) {
    const { tx, caller, now } = context
    const webhook = await holdWebhook(tx, caller.accountId, params.id)
    if (!webhook) throw notFound()
    if ((await countAside(tx, webhook.id)) >= MOST_ASIDE)
      throw new Problem(problems.too_many_deliveries, { limit: MOST_ASIDE }, { headers: { 'retry-after': '60' } })
    const values = { webhookId: webhook.id, eventId: null, siteId: null, messageId: testMessageId(), type: 'test' }
    const delivery = await insertAside(tx, { ...values, dueAt: now, now })
    await context.record({ action: actions.settings, message: `Sent a test to the webhook ${webhook.id}` })
    return presentDelivery(delivery)
  },
})
