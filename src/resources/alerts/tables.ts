import type { Generated } from 'kysely'
import type { Flag } from '../../platform/db/schema.ts'

declare module '../../platform/db/schema.ts' {
  interface Schema {
    alerts: AlertRow
    alert_settings: AlertSettingsRow
    alert_mutes: AlertMuteRow
    alert_notices: AlertNoticeRow
    alert_chats: AlertChatRow
    site_faults: SiteFaultRow
  }
}

/** Something that a person must know of. At most one is open for each site, kind and subject. */
export interface AlertRow {
  id: Generated<number>
  /** 0: it is about the installation. */
  site_id: number
  /** Of `kinds.ts`. */
  kind: string
  /** What it is about, within site and kind: a domain, for example. Empty if there is only one. */
  subject: string
  detail: string
  began_at: number
  /** Null while it is open. */
  ended_at: number | null
  /** 1: it began or ended, and has no messages about that yet. */
  is_new: Flag
}

export interface AlertSettingsRow {
  account_id: number
  /** JSON: what the person chose differently, by kind. */
  choices: string
  mail_shared_sites: Flag
  /** The newest alert that the person has read. */
  read_to: number
  /** When the last mail was sent. */
  mailed_at: number | null
}

/** Alerts that do not reach a person. */
export interface AlertMuteRow {
  id: Generated<number>
  account_id: number
  /** Null: any site, and the installation. */
  site_id: number | null
  /** Null: any kind. */
  kind: string | null
  /** Null: until it is deleted. */
  until: number | null
  created_at: number
}

/** A message to an account about an alert. */
export interface AlertNoticeRow {
  alert_id: number
  account_id: number
  /** 0: by mail. */
  chat_id: number
  event: 'began' | 'ended'
  /** Null once it is sent. */
  due_at: number | null
  sent_at: number | null
}

/** A room of a chat program that gets alerts, by an incoming webhook. */
export interface AlertChatRow {
  id: Generated<number>
  account_id: number
  /** Anyone who knows it can write into the room. */
  url_sealed: string
  /** Host name of the URL, which people see. */
  host: string
  description: string
  /** JSON array, or null for all kinds. */
  kinds: string | null
  /** Nothing is sent before. */
  next_at: number
  /** When a test was requested that was not sent yet. */
  test_at: number | null
  /** When a message last arrived. */
  sent_at: number | null
  failing_since: number | null
  /** Why the last message did not arrive. */
  fault: string | null
  created_at: number
}

/** A site with more faults of a kind than it should have, as its host has counted. */
export interface SiteFaultRow {
  site_id: number
  kind: string
  detail: string
  seen_at: number
}
