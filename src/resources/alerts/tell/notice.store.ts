import { type ExpressionBuilder, type SqlBool, sql } from 'kysely'
import type { Tx } from '../../../platform/db/database.ts'
import type { Schema } from '../../../platform/db/schema.ts'
import { HOUR_MS } from '../../../platform/durations.ts'
import type { AlertCause } from '../alert.store.ts'
import { type Alert, PLATFORM } from '../alert.ts'

/** The `chat_id` of notices by mail. */
export const BY_MAIL = 0

/** An alert that began or ended, without messages about that. */
export interface FreshAlert extends AlertCause {
  readonly id: number
  readonly endedAt: number | null
}

/** Takes alerts that began or ended. A change in the meantime makes them fresh again. */
export function takeFreshAlerts(tx: Tx, most: number): Promise<FreshAlert[]> {
  const fresh = tx.selectFrom('alerts').select('id').where(sql<SqlBool>`is_new = 1`).orderBy('id').limit(most)
  return tx
    .updateTable('alerts')
    .set({ is_new: 0 })
    .where('id', 'in', fresh)
    .where(sql<SqlBool>`is_new = 1`)
    .returning(['id', 'site_id as siteId', 'kind', 'subject', 'ended_at as endedAt'])
    .execute()
}

export interface NewNotice {
  readonly alertId: number
  readonly accountId: number
  readonly chatId: number
  readonly event: 'began' | 'ended'
  readonly dueAt: number
}

export async function insertNotice(tx: Tx, { alertId, accountId, chatId, event, dueAt }: NewNotice): Promise<void> {
  await tx
    .insertInto('alert_notices')
    .values({ alert_id: alertId, account_id: accountId, chat_id: chatId, event, due_at: dueAt, sent_at: null })
    .onConflict((conflict) => conflict.columns(['alert_id', 'account_id', 'chat_id', 'event']).doNothing())
    .execute()
}

/** Returns when each account, or a room of it, last got a message that a cause began or ended, within the hour. */
export async function lastTold(
  tx: Tx,
  { siteId, kind, subject }: AlertCause,
  event: 'began' | 'ended',
  now: number,
): Promise<Map<string, number>> {
  const rows = await tx
    .selectFrom('alerts')
    .innerJoin('alert_notices', 'alert_notices.alert_id', 'alerts.id')
    .select(['account_id as accountId', 'chat_id as chatId', 'sent_at as sentAt'])
    .where('alerts.site_id', '=', siteId)
    .where('kind', '=', kind)
    .where('subject', '=', subject)
    .where('event', '=', event)
    .where('sent_at', '>', now - HOUR_MS)
    .where('sent_at', '<=', now)
    .orderBy('sent_at')
    .execute()
  return new Map(rows.map(({ sentAt, ...to }) => [receiver(to), sentAt as number]))
}

/** Names an account, or a room of it. */
export const receiver = ({ accountId, chatId }: { readonly accountId: number; readonly chatId: number }): string =>
  `${accountId} ${chatId}`

/** Deletes notices of the begin of an alert that were not sent. */
export async function dropUnsent(tx: Tx, alertId: number): Promise<void> {
  await tx.deleteFrom('alert_notices').where('alert_id', '=', alertId).where('due_at', 'is not', null).execute()
}

/** Returns who has got a message that an alert began. */
export function toldOf(tx: Tx, alertId: number) {
  return tx
    .selectFrom('alert_notices')
    .select(['account_id as accountId', 'chat_id as chatId'])
    .where('alert_id', '=', alertId)
    .where('event', '=', 'began')
    .where('sent_at', 'is not', null)
    .execute()
}

/** A clock that was set back leaves times that no mail waits for. */
const MOST_WAIT_MS = 2 * HOUR_MS

const due = (now: number) => sql<SqlBool>`due_at is not null and (due_at <= ${now} or due_at > ${now + MOST_WAIT_MS})`

/** Returns accounts with mails that are due, unless they had one within the pause. */
export async function accountsToMail(
  tx: Tx,
  { now, pauseMs, most }: { now: number; pauseMs: number; most: number },
): Promise<number[]> {
  const rows = await tx
    .selectFrom('alert_notices')
    .leftJoin('alert_settings', 'alert_settings.account_id', 'alert_notices.account_id')
    .select('alert_notices.account_id')
    .distinct()
    .where('chat_id', '=', sql.lit(BY_MAIL))
    .where(due(now))
    .where(sql<SqlBool>`(mailed_at is null or mailed_at <= ${now - pauseMs} or mailed_at > ${now})`)
    .orderBy('alert_notices.account_id')
    .limit(most)
    .execute()
  return rows.map(({ account_id }) => account_id)
}

/** An alert to tell of. */
export interface DueNotice extends Alert {
  readonly event: 'began' | 'ended'
}

/** Returns the notices of an account that are due, the oldest alert first. */
export function dueNotices(
  tx: Tx,
  { accountId, chatId, now, most }: { accountId: number; chatId: number; now: number; most: number },
): Promise<DueNotice[]> {
  return tx
    .selectFrom('alert_notices')
    .innerJoin('alerts', 'alerts.id', 'alert_notices.alert_id')
    .leftJoin('sites', 'sites.id', 'alerts.site_id')
    .select([
      ...(['alerts.id', 'kind', 'subject', 'detail', 'event', 'alerts.site_id as siteId'] as const),
      ...(['began_at as beganAt', 'ended_at as endedAt', 'sites.display_name as siteName'] as const),
    ])
    .where('alert_notices.account_id', '=', accountId)
    .where('chat_id', '=', chatId)
    .where(due(now))
    .orderBy('alerts.id')
    .orderBy('event')
    .limit(most)
    .execute()
}

/** Marks notices as sent, or deletes those that do not reach the account. */
export async function endNotices(
  tx: Tx,
  { accountId, chatId }: { accountId: number; chatId: number },
  notices: readonly DueNotice[],
  sentAt: number | null,
): Promise<void> {
  const isOneOfThese = (ids: number[], event: 'began' | 'ended') => (eb: ExpressionBuilder<Schema, 'alert_notices'>) =>
    eb.and({ account_id: accountId, chat_id: chatId }).and('event', '=', event).and('alert_id', 'in', ids)
  for (const event of ['began', 'ended'] as const) {
    const ids = notices.filter((each) => each.event === event).map(({ id }) => id)
    if (ids.length === 0) continue
    if (sentAt !== null)
      await tx
        .updateTable('alert_notices')
        .set({ due_at: null, sent_at: sentAt })
        .where(isOneOfThese(ids, event))
        .execute()
    else await tx.deleteFrom('alert_notices').where(isOneOfThese(ids, event)).execute()
  }
}

/** Returns the notices of sites that an account still sees, and of the installation. */
export async function stillSeen(tx: Tx, accountId: number, notices: readonly DueNotice[]): Promise<DueNotice[]> {
  const ids = [...new Set(notices.map(({ siteId }) => siteId))]
  if (ids.length === 0) return []
  const rows = await tx
    .selectFrom('site_access')
    .select('site_id')
    .where('account_id', '=', accountId)
    .where('is_deleted', '=', 0)
    .where('site_id', 'in', ids)
    .execute()
  const seen = new Set([PLATFORM, ...rows.map(({ site_id }) => site_id)])
  return notices.filter(({ siteId }) => seen.has(siteId))
}

/** Drops messages to a room that were not sent. */
export async function dropNoticesOfChat(tx: Tx, chatId: number): Promise<void> {
  await tx.deleteFrom('alert_notices').where('chat_id', '=', chatId).where('due_at', 'is not', null).execute()
}
