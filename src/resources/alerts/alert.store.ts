import { type SqlBool, sql } from 'kysely'
import type { Tx } from '../../platform/db/database.ts'
import { type RowsAsked, rowsOfPage } from '../../platform/db/rows-of-page.ts'
import { type Alert, PLATFORM } from './alert.ts'

/** The subject of an alert. At most one alert is open for each. */
export interface AlertCause {
  readonly siteId: number
  readonly kind: string
  readonly subject: string
}

/** @returns its id, or `undefined` if one is open for the cause */
export async function insertAlert(
  tx: Tx,
  { siteId, kind, subject }: AlertCause,
  { detail, beganAt }: { readonly detail: string; readonly beganAt: number },
): Promise<number | undefined> {
  const row = await tx
    .insertInto('alerts')
    .values({ site_id: siteId, kind, subject, detail, began_at: beganAt, ended_at: null, is_new: 1 })
    .onConflict((conflict) =>
      conflict.columns(['site_id', 'kind', 'subject']).where('ended_at', 'is', null).doNothing(),
    )
    .returning('id')
    .executeTakeFirst()
  return row?.id
}

const openAlert = (tx: Tx, { siteId, kind, subject }: AlertCause) =>
  tx
    .updateTable('alerts')
    .where('site_id', '=', siteId)
    .where('kind', '=', kind)
    .where('subject', '=', subject)
    .where('ended_at', 'is', null)

/** Stores the newest detail of an open alert. */
export async function setAlertDetail(tx: Tx, cause: AlertCause, detail: string): Promise<void> {
  await openAlert(tx, cause).set({ detail }).where('detail', '!=', detail).execute()
}

/** @returns it, if one was open */
export const closeAlert = (tx: Tx, cause: AlertCause, now: number) =>
  openAlert(tx, cause).set({ ended_at: now, is_new: 1 }).returning(['id', 'began_at as beganAt']).executeTakeFirst()

/** Ends alerts of sites that were deleted, without a message to anyone. */
export async function closeAlertsOfDeleted(tx: Tx, now: number): Promise<void> {
  await tx
    .updateTable('alerts')
    .set({ ended_at: now, is_new: 0 })
    .where('ended_at', 'is', null)
    .where('site_id', '!=', PLATFORM)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('sites')
            .select('sites.id')
            .whereRef('sites.id', '=', 'alerts.site_id')
            .where('deleted_at', 'is', null),
        ),
      ),
    )
    .execute()
}

/** Which alerts a list has. */
export interface AlertFilter {
  readonly accountId: number
  readonly isOperator: boolean
  readonly state?: 'firing' | 'resolved' | undefined
  readonly siteId?: number | undefined
  readonly kinds?: readonly string[] | undefined
  /** Only those that no mute covers at this time. */
  readonly unmutedAt?: number | undefined
  /** Only newer ones. */
  readonly newerThan?: number | undefined
}

const columns = [
  ...(['alerts.id', 'alerts.kind', 'alerts.subject', 'alerts.detail'] as const),
  ...(['alerts.site_id as siteId', 'alerts.began_at as beganAt', 'alerts.ended_at as endedAt'] as const),
  'sites.display_name as siteName',
] as const

/** Returns a page of the alerts that an account sees, newest first. */
export function alertsPage(tx: Tx, filter: AlertFilter, page: RowsAsked): Promise<Alert[]> {
  const query = seenAlerts(tx, filter)
    .leftJoin('sites', 'sites.id', 'alerts.site_id')
    .select(columns)
    .orderBy('alerts.id', 'desc')
  return rowsOfPage(query, page, { column: 'alerts.id', order: 'desc' }).execute()
}

export async function countAlerts(tx: Tx, filter: AlertFilter): Promise<number> {
  const { count } = await seenAlerts(tx, filter)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

function seenAlerts(tx: Tx, { accountId, isOperator, state, siteId, kinds, unmutedAt, newerThan }: AlertFilter) {
  let query = tx.selectFrom('alerts').where(({ or, eb, selectFrom }) => {
    const sites = selectFrom('site_access').select('site_id').where('account_id', '=', accountId)
    const seen = eb('alerts.site_id', 'in', sites.where(sql<SqlBool>`is_deleted = 0`))
    return isOperator ? or([seen, eb('alerts.site_id', '=', PLATFORM)]) : seen
  })
  if (state) query = query.where('alerts.ended_at', state === 'firing' ? 'is' : 'is not', null)
  if (siteId !== undefined) query = query.where('alerts.site_id', '=', siteId)
  if (kinds) query = query.where('alerts.kind', 'in', [...kinds, ''])
  if (newerThan !== undefined) query = query.where('alerts.id', '>', newerThan)
  if (unmutedAt !== undefined) query = query.where(({ not, exists }) => not(exists(muteOf(tx, accountId, unmutedAt))))
  return query
}

/** Selects the mutes of an account that cover an alert of the outer query. */
const muteOf = (tx: Tx, accountId: number, now: number) =>
  tx
    .selectFrom('alert_mutes')
    .select('alert_mutes.id')
    .where('alert_mutes.account_id', '=', accountId)
    .where(({ or, eb }) => or([eb('until', 'is', null), eb('until', '>', now)]))
    .where(sql<SqlBool>`(alert_mutes.site_id is null or alert_mutes.site_id = alerts.site_id)`)
    .where(sql<SqlBool>`(alert_mutes.kind is null or alert_mutes.kind = alerts.kind)`)

/** Returns the newest alert of all. */
export async function newestAlert(tx: Tx): Promise<number> {
  const row = await tx.selectFrom('alerts').select('id').orderBy('id', 'desc').limit(1).executeTakeFirst()
  return row?.id ?? 0
}

/** Deletes what belongs to a site. */
export async function forgetAlertsOfSite(tx: Tx, siteId: number): Promise<void> {
  const alerts = tx.selectFrom('alerts').select('id').where('site_id', '=', siteId)
  await tx.deleteFrom('alert_notices').where('alert_id', 'in', alerts).execute()
  await tx.deleteFrom('alerts').where('site_id', '=', siteId).execute()
  for (const table of ['alert_mutes', 'site_faults'] as const)
    await tx.deleteFrom(table).where('site_id', '=', siteId).execute()
}

/** Deletes the choices of an account, and the messages to it. */
export async function forgetAlertsOfAccount(tx: Tx, accountId: number): Promise<void> {
  for (const table of ['alert_notices', 'alert_settings', 'alert_mutes', 'alert_chats'] as const)
    await tx.deleteFrom(table).where('account_id', '=', accountId).execute()
}

/** @returns how many rows; call again until it is 0 */
export async function forgetAlerts(tx: Tx, before: number, most: number): Promise<number> {
  const rows = await tx.selectFrom('alerts').select('id').where('ended_at', '<', before).limit(most).execute()
  if (rows.length === 0) return 0
  const ids = rows.map(({ id }) => id)
  await tx.deleteFrom('alert_notices').where('alert_id', 'in', ids).execute()
  await tx.deleteFrom('alerts').where('id', 'in', ids).execute()
  return ids.length
}
