import type { Generated } from 'kysely'
import type { Flag } from '../../platform/db/schema.ts'

declare module '../../platform/db/schema.ts' {
  interface Schema {
    events: EventRow
    event_clock: EventClockRow
    webhooks: WebhookRow
    webhook_sites: WebhookSiteRow
    webhook_deliveries: WebhookDeliveryRow
    webhook_attempts: WebhookAttemptRow
  }
}

/** Events for webhooks, written with the change and delivered later. */
export interface EventRow {
  id: Generated<number>
  account_id: number
  site_id: number | null
  type: string
  data: string
  created_at: number
  /** In the order of commits, assigned at the very end of the transaction. */
  seq: Generated<number | null>
  /** Makes its public id unique across installations, and across restores of this one. */
  mark: Generated<string>
}

/** 1 is the newest event. 2 is the newest event whose deliveries exist. */
export interface EventClockRow {
  id: 1 | 2
  seq: number
}

export interface WebhookRow {
  id: Generated<number>
  account_id: number
  url: string
  description: string
  /** JSON array, or null for all. */
  event_types: string | null
  /** 0 if only those of `webhook_sites`. */
  all_sites: Flag
  enabled: Flag
  /** Why Stead has disabled it, or null if it has not. */
  disabled_reason: string | null
  secret_sealed: string
  /** Signs in addition to the new one until the given time. */
  old_secret_sealed: string | null
  old_secret_until: number | null
  /** Events up to here are older than the webhook, or happened while it was disabled. */
  from_seq: number
  /** The time since which nothing has arrived. Null if the last attempt succeeded, or there was none. */
  failing_since: number | null
  created_at: number
  updated_at: number
}

export interface WebhookSiteRow {
  webhook_id: number
  site_id: number
}

/** `waiting`: an earlier event of the same line has not arrived yet. */
export type DeliveryState = 'pending' | 'waiting' | 'delivered' | 'failed'

export interface WebhookDeliveryRow {
  id: Generated<number>
  webhook_id: number
  /** Null for a test. */
  event_id: number | null
  site_id: number | null
  /** Id of the event for the receiver. */
  message_id: string
  type: string
  /**
   * Deliveries of one line are sent one after the other. The id of the site, 0 for events of the account, or null for
   * no line.
   */
  line: number | null
  state: DeliveryState
  attempts: Generated<number>
  /** Only for pending deliveries. */
  due_at: number | null
  lease_owner: Generated<string | null>
  lease_until: Generated<number | null>
  created_at: number
  finished_at: Generated<number | null>
}

export interface WebhookAttemptRow {
  delivery_id: number
  number: number
  started_at: number
  duration_ms: number
  /** Null without a response. */
  status: number | null
  /** The first characters of the response. */
  answer: string
  /** A sentence, or null after success. */
  error: string | null
}
