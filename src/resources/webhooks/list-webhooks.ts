import Type from 'typebox'
import { reply } from '../../platform/http/endpoint.ts'
import { besidesOf, pageOf, pageQuery } from '../../platform/http/schemas.ts'
import { endpoint } from '../kit/endpoint.ts'
import { countWebhooks, webhooksOfAccount } from './webhook.store.ts'
import { presentWebhook, WebhookSchema } from './webhook.ts'

export const listWebhooks = endpoint({
  id: 'listWebhooks',
  method: 'GET',
  path: '/v1/webhooks',
  summary: 'List the webhooks of your account',
  description: 'Returns one page of webhooks, ordered by id, without their secrets.',
  access: { account: 'own' },
  query: Type.Object(pageQuery),
  response: Type.Array(WebhookSchema),
  paged: true,

  async handle({ tx, caller, now }, { query }) {
    const asked = pageOf(query)
    const webhooks = await webhooksOfAccount(tx, caller.accountId, asked)
    return reply(
      webhooks.map((webhook) => presentWebhook(webhook, now)),
      await besidesOf(asked, webhooks, () => countWebhooks(tx, caller.accountId)),
    )
  },
})
