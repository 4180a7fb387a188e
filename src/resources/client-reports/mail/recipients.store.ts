import { sql } from 'kysely'
import type { Tx } from '../../../platform/db/database.ts'
import type { Month } from '../month.ts'

/** Returns who gets the reports of a site. */
export async function recipientsOf(tx: Tx, siteId: number): Promise<string[]> {
  const row = await settingsRow(tx, siteId)
  return row ? (JSON.parse(row.recipients) as string[]) : []
}

const settingsRow = (tx: Tx, siteId: number) =>
  tx.selectFrom('client_report_settings').selectAll().where('site_id', '=', siteId).executeTakeFirst()

/**
 * Replaces the recipients of a site. The first ones get no report of a month that has already ended.
 * @param lastMonth the last month that has ended
 */
export async function setRecipients(
  tx: Tx,
  siteId: number,
  { recipients, lastMonth, now }: { recipients: readonly string[]; lastMonth: Month; now: number },
): Promise<void> {
  const text = JSON.stringify(recipients)
  if ((await recipientsOf(tx, siteId)).length > 0) {
    await tx
      .updateTable('client_report_settings')
      .set({ recipients: text, updated_at: now })
      .where('site_id', '=', siteId)
      .execute()
    return
  }
  const values = { recipients: text, sent_month: lastMonth, updated_at: now }
  await tx
    .insertInto('client_report_settings')
    .values({ site_id: siteId, ...values })
    .onConflict((conflict) => conflict.column('site_id').doUpdateSet(values))
    .execute()
}

/** Returns sites whose recipients have not all been sent the report of a month, in order of ID. */
export async function sitesToMail(
  tx: Tx,
  { month, after, most }: { month: Month; after: number; most: number },
): Promise<number[]> {
  const rows = await tx
    .selectFrom('client_report_settings')
    .select('site_id')
    .where('sent_month', '<', month)
    .where('site_id', '>', after)
    .orderBy('site_id')
    .limit(most)
    .execute()
  return rows.map(({ site_id }) => Number(site_id))
}

/** Returns the recipients that were not sent the report of a month. Empty if the site is done with it. */
export async function missingRecipients(tx: Tx, siteId: number, month: Month): Promise<string[]> {
  const row = await settingsRow(tx, siteId)
  if (!row || row.sent_month >= month) return []
  const mails = await tx
    .selectFrom('client_report_mails')
    .select('address')
    .where('site_id', '=', siteId)
    .where('month', '=', month)
    .execute()
  const known = new Set(mails.map(({ address }) => address))
  return (JSON.parse(row.recipients) as string[]).filter((address) => !known.has(address))
}

export async function noteMail(
  tx: Tx,
  { siteId, month, address, now }: { siteId: number; month: Month; address: string; now: number },
): Promise<void> {
  await tx
    .insertInto('client_report_mails')
    .values({ site_id: siteId, month, address, requested_at: now, sent_at: null, fault: null })
    .execute()
}

/** Notes what became of a mail. A retry may change it. */
export async function endMail(
  tx: Tx,
  { siteId, month, address }: { siteId: number; month: Month; address: string },
  end: { readonly sent_at: number } | { readonly fault: string },
): Promise<void> {
  await tx
    .updateTable('client_report_mails')
    .set({ sent_at: null, fault: null, ...end })
    .where('site_id', '=', siteId)
    .where('month', '=', month)
    .where('address', '=', address)
    .execute()
}

export async function markMailed(tx: Tx, siteId: number, month: Month): Promise<void> {
  await tx
    .updateTable('client_report_settings')
    .set({ sent_month: month })
    .where('site_id', '=', siteId)
    .where('sent_month', '<', month)
    .execute()
}

/** A mail with a report, as the panel shows it. */
export interface StoredMail {
  readonly month: Month
  readonly address: string
  readonly requestedAt: number
  readonly sentAt: number | null
  readonly fault: string | null
}

/** Returns the newest mails of a site. */
export async function mailsOfSite(tx: Tx, siteId: number, most: number): Promise<StoredMail[]> {
  const rows = await tx
    .selectFrom('client_report_mails')
    .selectAll()
    .where('site_id', '=', siteId)
    .orderBy('month', 'desc')
    .orderBy('address')
    .limit(most)
    .execute()
  return rows.map((row) => ({
    month: Number(row.month),
    address: row.address,
    requestedAt: Number(row.requested_at),
    sentAt: row.sent_at === null ? null : Number(row.sent_at),
    fault: row.fault,
  }))
}

/** @returns how many rows; call again until it is 0 */
export async function forgetMailsBefore(tx: Tx, before: Month, most: number): Promise<number> {
  const old = tx
    .selectFrom('client_report_mails')
    .select(['site_id', 'month', 'address'])
    .where('month', '<', before)
    .limit(most)
  const { numDeletedRows } = await tx
    .deleteFrom('client_report_mails')
    .where(({ refTuple }) => sql<boolean>`${refTuple('site_id', 'month', 'address')} in (${old})`)
    .executeTakeFirst()
  return Number(numDeletedRows)
}

export async function forgetRecipients(tx: Tx, siteId: number): Promise<void> {
  for (const table of ['client_report_settings', 'client_report_mails'] as const)
    await tx.deleteFrom(table).where('site_id', '=', siteId).execute()
}
