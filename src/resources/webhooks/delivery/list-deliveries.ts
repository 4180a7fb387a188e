import Type from 'typebox'
import { reply } from '../../../platform/http/endpoint.ts'
import { notFound } from '../../../platform/http/problem.ts'
import { besidesOf, pageOf, pageQuery } from '../../../platform/http/schemas.ts'
import { endpoint } from '../../kit/endpoint.ts'
import { findWebhook } from '../webhook.store.ts'
import { WebhookId } from '../webhook.ts'
import { attemptsByDelivery, countDeliveries, listDeliveries as list } from './delivery.store.ts'
import { DeliverySchema, presentDelivery } from './delivery.ts'

export const listWebhookDeliveries = endpoint({
  id: 'listWebhookDeliveries',
  method: 'GET',
  path: '/v1/webhooks/{id}/deliveries',
  summary: 'List the deliveries of a webhook',
  description:
    'Returns one page of deliveries with their attempts, newest first. Stead keeps the 1,000 newest completed deliveries for 30 days.',
  access: { account: 'own' },
  params: Type.Object({ id: WebhookId }),
  query: Type.Object(pageQuery),
  response: Type.Array(DeliverySchema),
  paged: true,

  async handle({ tx, caller }, { params, query }) {
    const webhook = await findWebhook(tx, caller.accountId, params.id)
    if (!webhook) throw notFound()
    const asked = pageOf(query)
    const deliveries = await list(tx, webhook.id, asked)
    const attempts = await attemptsByDelivery(
      tx,
      deliveries.map(({ id }) => id),
    )
    return reply(
      deliveries.map((each) => presentDelivery(each, attempts.get(each.id))),
      await besidesOf(asked, deliveries, () => countDeliveries(tx, webhook.id)),
    )
  },
})
