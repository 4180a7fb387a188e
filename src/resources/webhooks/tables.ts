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

/** What webhooks will be told: written with the change, delivered later. */
export interface EventRow {
  id: Generated<number>
  account_id: number
  site_id: number | null
  type: string
  data: string
  created_at: number
  /** In the order of commits; given at the very end of the transaction. */
  seq: Generated<number | null>
  /** Makes its public id another than that of any event of another installation, or of this one before it was restored. */
  mark: Generated<string>
}

/** 1: the newest event; 2: up to here webhooks have their deliveries. */
export interface EventClockRow {
  id: 1 | 2
  seq: number
}

export interface WebhookRow {
  id: Generated<number>
  account_id: number
  url: string
  description: string
  /** JSON array; null: all. */
  event_types: string | null
  /** 0: those of `webhook_sites`. */
  all_sites: Flag
  enabled: Flag
  /** Why Stead has disabled it; null: it has not. */
  disabled_reason: string | null
  secret_sealed: string
  /** Signs beside the other until then. */
  old_secret_sealed: string | null
  old_secret_until: number | null
  /** Events up to here are older than the webhook, or came while it was disabled. */
  from_seq: number
  /** Nothing has arrived since then; null: the last attempt was good, or there was none. */
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
  /** Null: a test. */
  event_id: number | null
  site_id: number | null
  /** Id of the event for the receiver. */
  message_id: string
  type: string
  /** Deliveries of one line go one after the other: id of the site, 0 for events of the account; null: of no line. */
  line: number | null
  state: DeliveryState
  attempts: Generated<number>
  /** Of those that are pending. */
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
  /** Null: there was no answer. */
  status: number | null
  /** The first characters of it. */
  answer: string
  /** A sentence; null: it was good. */
  error: string | null
}
