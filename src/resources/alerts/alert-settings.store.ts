import type { Tx } from '../../platform/db/database.ts'
import { type AlertSettings, usualSettings } from './alert-settings.ts'

export async function alertSettingsOf(tx: Tx, accountId: number): Promise<AlertSettings> {
  const row = await tx.selectFrom('alert_settings').selectAll().where('account_id', '=', accountId).executeTakeFirst()
  if (!row) return usualSettings
  return { choices: JSON.parse(row.choices), mailsSharedSites: row.mail_shared_sites === 1, readTo: row.read_to }
}

interface Changes {
  readonly choices?: string
  readonly mail_shared_sites?: 0 | 1
  readonly read_to?: number
  readonly mailed_at?: number
}

/** Stores some of an account's settings. */
export async function setAlertSettings(tx: Tx, accountId: number, changes: Changes): Promise<void> {
  await tx
    .insertInto('alert_settings')
    .values({ account_id: accountId, choices: '{}', mail_shared_sites: 0, read_to: 0, mailed_at: null, ...changes })
    .onConflict((conflict) => conflict.column('account_id').doUpdateSet(changes))
    .execute()
}
