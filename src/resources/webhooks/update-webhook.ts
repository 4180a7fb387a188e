import Type from 'typebox'
import { lockForUpdate } from '../../platform/db/database.ts'
import { notFound } from '../../platform/http/problem.ts'
import { actions } from '../account/public.ts'
import { endpoint } from '../kit/endpoint.ts'
import { checkFields, distinct } from './check-fields.ts'
import { giveUpAll } from './delivery/delivery.store.ts'
import { newSecret, SECRET_PURPOSE } from './delivery/signature.ts'
import type { WebhookRow } from './tables.ts'
import { changeWebhook, findWebhook, holdWebhook, newestSeq } from './webhook.store.ts'
import {
  ChangedWebhookSchema,
  presentWebhook,
  ROTATION_MS,
  type Webhook,
  WebhookId,
  WebhookUrl,
  webhookFields,
} from './webhook.ts'

const Body = Type.Object({
  url: Type.Optional(WebhookUrl),
  description: Type.Optional(webhookFields.description),
  event_types: Type.Optional(webhookFields.event_types),
  site_ids: Type.Optional(webhookFields.site_ids),
  enabled: Type.Optional(webhookFields.enabled),
  rotate_secret: Type.Optional(
    Type.Boolean({
      description: 'Create a new secret. Stead also signs with the old secret for 24 hours',
      examples: [false],
    }),
  ),
})

export const updateWebhook = endpoint({
  id: 'updateWebhook',
  method: 'PUT',
  path: '/v1/webhooks/{id}',
  summary: 'Update a webhook',
  description:
    'Changes the fields that you send. With `"enabled": false`, Stead discards pending deliveries and sends no new events until you enable the webhook again. ' +
    'You can still read these events with `GET /v1/events`. With `"rotate_secret": true`, the response contains the new secret.',
  access: { account: 'own' },
  params: Type.Object({ id: WebhookId }),
  body: Body,
  response: ChangedWebhookSchema,

  async handle(context, { params, body }) {
    const { tx, caller, config, eventTypes, sealer, now } = context
    const { accountId } = caller
    // Two changes at once must run one after the other.
    await lockForUpdate(tx, 'accounts', accountId)
    const before = await holdWebhook(tx, accountId, params.id)
    if (!before) throw notFound()
    const url = body.url?.trim()
    await checkFields(tx, { ...body, url }, { accountId, eventTypes, allowPrivate: config.allowPrivateFetch })
    const secret = body.rotate_secret ? newSecret() : null
    const change: Partial<WebhookRow> = {
      updated_at: now,
      ...(url !== undefined && { url }),
      ...(body.description !== undefined && { description: body.description }),
      ...(body.event_types !== undefined && {
        event_types: body.event_types && JSON.stringify(distinct(body.event_types)),
      }),
      ...(secret !== null && {
        secret_sealed: sealer.seal(secret, SECRET_PURPOSE),
        old_secret_sealed: before.secretSealed,
        old_secret_until: now + ROTATION_MS,
      }),
      ...switched(before, body.enabled, await newestSeq(tx)),
    }
    await changeWebhook(tx, before.id, change, body.site_ids === undefined ? undefined : distinct(body.site_ids))
    if (before.isEnabled && body.enabled === false) await giveUpAll(tx, before.id, now)
    await context.record({ action: actions.settings, message: `Changed the webhook ${before.id} ${saidOf(body)}` })
    return { ...presentWebhook((await findWebhook(tx, accountId, before.id)) as Webhook, now), secret }
  },
})

function switched(before: Webhook, enabled: boolean | undefined, seq: number): Partial<WebhookRow> {
  if (enabled === undefined || enabled === before.isEnabled) return {}
  return enabled
    ? { enabled: 1, disabled_reason: null, failing_since: null, from_seq: seq }
    : { enabled: 0, disabled_reason: null }
}

const saidOf = (body: Type.Static<typeof Body>): string => {
  const fields = Object.entries(body).filter(([, value]) => value !== undefined)
  return fields.length > 0 ? `(${fields.map(([name]) => name).join(', ')})` : '(nothing)'
}
