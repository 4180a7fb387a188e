import Type from 'typebox'
import { notFound } from '../../platform/http/problem.ts'
import { endpoint } from '../kit/endpoint.ts'
import { findWebhook } from './webhook.store.ts'
import { presentWebhook, WebhookId, WebhookSchema } from './webhook.ts'

export const getWebhook = endpoint({
  id: 'getWebhook',
  method: 'GET',
  path: '/v1/webhooks/{id}',
  summary: 'Get a webhook',
  access: { account: 'own' },
  params: Type.Object({ id: WebhookId }),
  response: WebhookSchema,
  etag: true,

  async handle({ tx, caller, now }, { params }) {
    const webhook = await findWebhook(tx, caller.accountId, params.id)
    if (!webhook) throw notFound()
    return presentWebhook(webhook, now)
  },
})
