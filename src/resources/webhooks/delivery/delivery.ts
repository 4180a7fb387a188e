import Type from 'typebox'
import { nullable, oneOf, Timestamp, timestamp } from '../../../platform/http/schemas.ts'
import type { DeliveryState } from '../tables.ts'

/** Delivery of one event to one webhook. */
export interface Delivery {
  readonly id: number
  readonly webhookId: number
  readonly eventId: number | null
  readonly siteId: number | null
  readonly messageId: string
  readonly type: string
  readonly line: number | null
  readonly state: DeliveryState
  readonly dueAt: number | null
  readonly createdAt: number
  readonly finishedAt: number | null
}

/** One request and its result. */
export interface Attempt {
  readonly number: number
  readonly startedAt: number
  readonly durationMs: number
  readonly status: number | null
  readonly answer: string
  readonly error: string | null
}

const AttemptSchema = Type.Object(
  {
    number: Type.Integer({ examples: [1] }),
    started_at: Timestamp,
    duration_ms: Type.Integer({ examples: [84] }),
    status: nullable(Type.Integer({ description: 'HTTP status. Null without a response', examples: [204] })),
    answer: Type.String({ description: 'Start of the response', examples: [''] }),
    error: nullable(Type.String({ description: 'Why the attempt failed', examples: [null] })),
  },
  { title: 'WebhookAttempt' },
)

export const DeliverySchema = Type.Object(
  {
    id: Type.Integer(),
    event_id: Type.String({
      description: 'Value of `webhook-id`, and id of the event in `GET /v1/events`. Each attempt has the same id',
      examples: ['evt_42_4f1d6a0f9be27c35'],
    }),
    type: Type.String({ examples: ['site_created'] }),
    site_id: nullable(Type.Integer()),
    state: oneOf(['pending', 'waiting', 'delivered', 'failed'], {
      description: '`waiting` means that an earlier event of the same site has not arrived yet',
    }),
    next_attempt_at: nullable(Type.String({ description: 'ISO 8601, UTC', examples: [null] })),
    attempts: Type.Array(AttemptSchema),
    created_at: Timestamp,
    finished_at: nullable(Type.String({ description: 'ISO 8601, UTC', examples: [null] })),
  },
  { title: 'WebhookDelivery' },
)

export const DeliveryId = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })

export const presentDelivery = (
  delivery: Delivery,
  attempts: readonly Attempt[] = [],
): Type.Static<typeof DeliverySchema> => ({
  id: delivery.id,
  event_id: delivery.messageId,
  type: delivery.type,
  site_id: delivery.siteId,
  state: delivery.state,
  next_attempt_at: delivery.dueAt === null ? null : timestamp(delivery.dueAt),
  attempts: attempts.map((each) => ({
    number: each.number,
    started_at: timestamp(each.startedAt),
    duration_ms: each.durationMs,
    status: each.status,
    answer: each.answer,
    error: each.error,
  })),
  created_at: timestamp(delivery.createdAt),
  finished_at: delivery.finishedAt === null ? null : timestamp(delivery.finishedAt),
})
