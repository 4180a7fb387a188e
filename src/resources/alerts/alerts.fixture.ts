import type { TestApi } from '../../../test/support/api.ts'
import { endAlert, type RaisedAlert, raiseAlert } from './raise-alert.ts'
import { mailAlerts } from './tell/mail-alerts.ts'
import { spreadAlerts } from './tell/spread-alerts.ts'

/** Opens an alert of a site. */
export const raise = (api: TestApi, siteId: number, now = Date.now(), more: Partial<RaisedAlert> = {}): Promise<void> =>
  api.database.transaction((tx) =>
    raiseAlert(tx, { kind: 'site_down', siteId, detail: 'The front page answers 502', ...more }, now),
  )

/** Ends it. */
export const end = (api: TestApi, siteId: number, now = Date.now(), more: Partial<RaisedAlert> = {}): Promise<void> =>
  api.database.transaction((tx) => endAlert(tx, { kind: 'site_down', siteId, ...more }, now))

/** Does what the job that tells of alerts does. */
export async function tellAt(api: TestApi, now: number): Promise<void> {
  while ((await api.database.transaction((tx) => spreadAlerts(tx, now))) > 0);
  while ((await api.database.transaction((tx) => mailAlerts(tx, now))) > 0);
}

/** Returns the mails that were requested, in order. */
export async function alertMails(api: TestApi): Promise<{ to: string; subject: string; text: string }[]> {
  const rows = await api.database.read
    .selectFrom('operations')
    .select('input')
    .where('type', '=', 'mail.send')
    .orderBy('id')
    .execute()
  return rows.map(({ input }) => JSON.parse(input))
}
