import Type from 'typebox'
import { lockForUpdate } from '../../platform/db/database.ts'
import { notFound } from '../../platform/http/problem.ts'
import { Nothing } from '../../platform/http/schemas.ts'
import { actions } from '../account/public.ts'
import { endpoint } from '../kit/endpoint.ts'
import { deleteWebhookRow, holdWebhook } from './webhook.store.ts'
import { WebhookId } from './webhook.ts'

export const deleteWebhook = endpoint({
  id: 'deleteWebhook',
  method: 'DELETE',
  path: '/v1/webhooks/{id}',
  summary: 'Delete a webhook',
  description:
    'Deletes the webhook and its deliveries. Stead sends nothing more, but a running attempt may still arrive.',
  access: { account: 'own' },
  params: Type.Object({ id: WebhookId }),
  response: Nothing,

  async handle(context, { params }) {
    const { tx, caller } = context
    await lockForUpdate(tx, 'accounts', caller.accountId)
    const webhook = await holdWebhook(tx, caller.accountId, params.id)
    if (!webhook) throw notFound()
    await deleteWebhookRow(tx, webhook.id)
    await context.record({
      action: actions.settings,
      message: `Deleted the webhook ${webhook.id} (${new URL(webhook.url).host})`,
    })
    return null
  },
})
