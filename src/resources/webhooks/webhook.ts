import { randomBytes } from 'node:crypto'
import { isIP } from 'node:net'
import Type from 'typebox'
import { AddressRefused, canonicalHost, isPublicAddress } from '../../platform/fetch/addresses.ts'
import { nullable, Timestamp, timestamp } from '../../platform/http/schemas.ts'

/** Receiver of an account's events. */
export interface Webhook {
  readonly id: number
  readonly accountId: number
  readonly url: string
  readonly description: string
  /** Null for all, including those of later versions. */
  readonly eventTypes: readonly string[] | null
  /** Null for all, including new ones. */
  readonly siteIds: readonly number[] | null
  readonly isEnabled: boolean
  /** Why Stead has disabled it. */
  readonly disabledReason: string | null
  readonly secretSealed: string
  readonly oldSecretUntil: number | null
  readonly failingSince: number | null
  readonly createdAt: number
  readonly updatedAt: number
}

export const MOST_WEBHOOKS = 10
const MOST_SITES = 1000
/** How long the old secret signs in addition to the new one. */
export const ROTATION_MS = 86_400_000

export const WebhookId = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })

const text = {
  types: 'Event types to send. Null for all types, including those of later versions',
  sites: 'Sites of your account. Null for all sites and for events of the account itself',
}

/** Fields that a client may set. */
export const webhookFields = {
  description: Type.String({ maxLength: 500, examples: ['Deploy bot'] }),
  event_types: nullable(
    Type.Array(Type.String({ maxLength: 100 }), {
      description: text.types,
      minItems: 1,
      maxItems: 100,
      examples: [['site_created', 'site_deleted']],
    }),
  ),
  site_ids: nullable(
    Type.Array(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }), {
      description: text.sites,
      minItems: 1,
      maxItems: MOST_SITES,
      examples: [null],
    }),
  ),
  enabled: Type.Boolean({ examples: [true] }),
}

export const WebhookUrl = Type.String({
  description: 'Public http or https URL that accepts POST',
  minLength: 1,
  maxLength: 2000,
  examples: ['https://hooks.example.com/stead'],
})

const shown = {
  id: Type.Integer(),
  url: Type.String({ examples: ['https://hooks.example.com/stead'] }),
  description: Type.String({ examples: ['Deploy bot'] }),
  event_types: nullable(Type.Array(Type.String(), { description: text.types, examples: [['site_created']] })),
  site_ids: nullable(Type.Array(Type.Integer(), { description: text.sites, examples: [null] })),
  enabled: Type.Boolean({ examples: [true] }),
  disabled_reason: nullable(
    Type.String({ description: 'Why Stead disabled the webhook. Null if it did not', examples: [null] }),
  ),
  failing_since: nullable(
    Type.String({ description: 'Since when no event has arrived. Null if deliveries succeed', examples: [null] }),
  ),
  old_secret_until: nullable(
    Type.String({ description: 'Until then, Stead also signs with the previous secret', examples: [null] }),
  ),
  created_at: Timestamp,
  updated_at: Timestamp,
}

export const WebhookSchema = Type.Object(shown, { title: 'Webhook' })

const secret = Type.String({
  description: 'Secret to verify signatures. Stead shows it only once',
  examples: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo='],
})
export const NewWebhookSchema = Type.Object({ ...shown, secret }, { title: 'NewWebhook' })
export const ChangedWebhookSchema = Type.Object(
  { ...shown, secret: nullable(Type.String({ description: 'New secret, if you requested one', examples: [null] })) },
  { title: 'ChangedWebhook' },
)

const time = (at: number | null) => (at === null ? null : timestamp(at))

export const presentWebhook = (webhook: Webhook, now: number): Type.Static<typeof WebhookSchema> => ({
  id: webhook.id,
  url: webhook.url,
  description: webhook.description,
  event_types: webhook.eventTypes && [...webhook.eventTypes],
  site_ids: webhook.siteIds && [...webhook.siteIds],
  enabled: webhook.isEnabled,
  disabled_reason: webhook.disabledReason,
  failing_since: time(webhook.failingSince),
  old_secret_until:
    webhook.oldSecretUntil !== null && webhook.oldSecretUntil > now ? time(webhook.oldSecretUntil) : null,
  created_at: timestamp(webhook.createdAt),
  updated_at: timestamp(webhook.updatedAt),
})

/** Returns what is wrong with the text of a URL. Where its name leads is checked at each connection. */
export function urlFault(url: string, { allowPrivate }: { allowPrivate: boolean }): string | undefined {
  const parsed = URL.parse(url)
  if (!parsed || !/^https?:$/.test(parsed.protocol)) return 'url: must be an http or https URL'
  if (parsed.username || parsed.password) return 'url: must not contain a user name or password'
  return allowPrivate || leadsOutside(parsed.hostname) ? undefined : 'url: must be on the public internet'
}

function leadsOutside(hostname: string): boolean {
  try {
    const host = canonicalHost(hostname)
    return isIP(host) === 0 ? !/(^|\.)localhost\.?$/.test(host) : isPublicAddress(host)
  } catch (error) {
    if (error instanceof AddressRefused) return false
    throw error
  }
}

/** Returns the id that a test has for its receiver. */
export const testMessageId = (): string => `evt_test_${randomBytes(12).toString('hex')}`
