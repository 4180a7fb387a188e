import Type from 'typebox'
import { lockForUpdate } from '../../platform/db/database.ts'
import { Problem } from '../../platform/http/problem.ts'
import { actions } from '../account/public.ts'
import { endpoint } from '../kit/endpoint.ts'
import { checkFields, distinct } from './check-fields.ts'
import { newSecret, SECRET_PURPOSE } from './delivery/signature.ts'
import { problems } from './problems.ts'
import { countWebhooks, insertWebhook } from './webhook.store.ts'
import { MOST_WEBHOOKS, NewWebhookSchema, presentWebhook, WebhookUrl, webhookFields } from './webhook.ts'

export const createWebhook = endpoint({
  id: 'createWebhook',
  method: 'POST',
  path: '/v1/webhooks',
  summary: 'Add a webhook',
  description:
    'Sends all later events of your account and its sites to a URL, signed as Standard Webhooks defines. The receiver verifies signatures with `secret`. ' +
    'Save the secret: Stead does not show it again. Read missed events with `GET /v1/events`.',
  access: { account: 'own' },
  body: Type.Object({
    url: WebhookUrl,
    description: Type.Optional(webhookFields.description),
    event_types: Type.Optional(webhookFields.event_types),
    site_ids: Type.Optional(webhookFields.site_ids),
    enabled: Type.Optional(webhookFields.enabled),
  }),
  response: NewWebhookSchema,
  problems: [problems.webhook_limit_reached],

  async handle(context, { body }) {
    const { tx, caller, config, eventTypes, sealer, now } = context
    const { accountId } = caller
    const url = body.url.trim()
    await checkFields(tx, { ...body, url }, { accountId, eventTypes, allowPrivate: config.allowPrivateFetch })
    await lockForUpdate(tx, 'accounts', accountId)
    if ((await countWebhooks(tx, accountId)) >= MOST_WEBHOOKS)
      throw new Problem(problems.webhook_limit_reached, { limit: MOST_WEBHOOKS })
    const secret = newSecret()
    const draft = {
      url,
      description: body.description ?? '',
      eventTypes: distinct(body.event_types ?? null),
      siteIds: distinct(body.site_ids ?? null),
      isEnabled: body.enabled ?? true,
      secretSealed: sealer.seal(secret, SECRET_PURPOSE),
    }
    const webhook = await insertWebhook(tx, accountId, draft, now)
    await context.record({
      action: actions.settings,
      message: `Added the webhook ${webhook.id} (${new URL(url).host})`,
    })
    return { ...presentWebhook(webhook, now), secret }
  },
})
