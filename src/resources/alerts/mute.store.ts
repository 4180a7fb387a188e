import type { Tx } from '../../platform/db/database.ts'
import { type RowsAsked, rowsOfPage } from '../../platform/db/rows-of-page.ts'
import type { Mute } from './mute.ts'

const columns = [
  ...(['alert_mutes.id', 'alert_mutes.site_id as siteId', 'kind', 'until'] as const),
  ...(['alert_mutes.created_at as createdAt', 'sites.display_name as siteName'] as const),
] as const

/** Selects mutes of an account, with the names of sites that it sees. */
const ofAccount = (tx: Tx, accountId: number) =>
  tx
    .selectFrom('alert_mutes')
    .leftJoin('site_access', (join) =>
      join
        .onRef('site_access.site_id', '=', 'alert_mutes.site_id')
        .onRef('site_access.account_id', '=', 'alert_mutes.account_id')
        .on('site_access.is_deleted', '=', 0),
    )
    .leftJoin('sites', 'sites.id', 'site_access.site_id')
    .where('alert_mutes.account_id', '=', accountId)

const lasting = (tx: Tx, accountId: number, now: number) =>
  ofAccount(tx, accountId).where(({ or, eb }) => or([eb('until', 'is', null), eb('until', '>', now)]))

/** Returns the mutes of an account that still hold, in order of id. */
export function mutesOfAccount(tx: Tx, accountId: number, now: number, page?: RowsAsked): Promise<Mute[]> {
  const query = lasting(tx, accountId, now).select(columns).orderBy('alert_mutes.id')
  return (page ? rowsOfPage(query, page, { column: 'alert_mutes.id', order: 'asc' }) : query).execute()
}

export async function countMutes(tx: Tx, accountId: number, now: number): Promise<number> {
  const { count } = await lasting(tx, accountId, now)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

export async function insertMute(
  tx: Tx,
  accountId: number,
  { siteId, kind, until, now }: Pick<Mute, 'siteId' | 'kind' | 'until'> & { readonly now: number },
): Promise<Mute> {
  const { id } = await tx
    .insertInto('alert_mutes')
    .values({ account_id: accountId, site_id: siteId, kind, until, created_at: now })
    .returning('id')
    .executeTakeFirstOrThrow()
  return ofAccount(tx, accountId).select(columns).where('alert_mutes.id', '=', id).executeTakeFirstOrThrow()
}

/** @returns false when the account has no such mute */
export async function deleteMuteRow(tx: Tx, accountId: number, id: number): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('alert_mutes')
    .where('account_id', '=', accountId)
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}

/** Deletes mutes that have ended. @returns how many; call again until it is 0 */
export async function forgetMutes(tx: Tx, now: number, most: number): Promise<number> {
  const old = tx.selectFrom('alert_mutes').select('id').where('until', '<', now).limit(most)
  const { numDeletedRows } = await tx.deleteFrom('alert_mutes').where('id', 'in', old).executeTakeFirst()
  return Number(numDeletedRows)
}
