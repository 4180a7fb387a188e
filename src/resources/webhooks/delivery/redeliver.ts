import Type from 'typebox'
import { notFound, Problem } from '../../../platform/http/problem.ts'
import { actions } from '../../account/public.ts'
import { endpoint } from '../../kit/endpoint.ts'
import { problems } from '../problems.ts'
import { holdWebhook } from '../webhook.store.ts'
import { WebhookId } from '../webhook.ts'
import { attemptsByDelivery, countAside, findDelivery, hurry, insertAside } from './delivery.store.ts'
import { type Delivery, DeliveryId, DeliverySchema, presentDelivery } from './delivery.ts'
import { MOST_ASIDE } from './delivery-limits.ts'

export const redeliver = endpoint({
  id: 'redeliver',
  method: 'POST',
  path: '/v1/webhooks/{id}/deliveries/{delivery_id}/redeliver',
  summary: 'Send an event to a webhook again',
  description:
    'Sends the event immediately with the same event id. For a completed delivery, Stead creates a new delivery that does not wait for earlier ' +
    'events. A waiting delivery is sent now.',
  access: { account: 'own' },
  params: Type.Object({ id: WebhookId, delivery_id: DeliveryId }),
  response: DeliverySchema,
  problems: [problems.too_many_deliveries],

  async handle(context, { params }) {
    const { tx, caller, now } = context
    const webhook = await holdWebhook(tx, caller.accountId, params.id)
    const delivery = webhook && (await findDelivery(tx, webhook.id, params.delivery_id))
    if (!delivery) throw notFound()
    await context.record({
      action: actions.settings,
      message: `Sent the event ${delivery.messageId} to the webhook ${webhook.id} again`,
    })
    if (delivery.finishedAt === null) {
      await hurry(tx, delivery.id, now)
      const again = (await findDelivery(tx, webhook.id, delivery.id)) as Delivery
      return presentDelivery(again, (await attemptsByDelivery(tx, [delivery.id])).get(delivery.id))
    }
    if ((await countAside(tx, webhook.id)) >= MOST_ASIDE)
      throw new Problem(problems.too_many_deliveries, { limit: MOST_ASIDE }, { headers: { 'retry-after': '60' } })
    return presentDelivery(await insertAside(tx, { ...delivery, dueAt: now, now }))
  },
})
