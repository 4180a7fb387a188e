import type { Tx } from '../../platform/db/database.ts'
import { type RowsAsked, rowsOfPage } from '../../platform/db/rows-of-page.ts'
import type { Mute } from './mute.ts'

const columns = ['id', 'site_id as siteId', 'kind', 'until', 'created_at as createdAt'] as const

const lasting = (tx: Tx, accountId: number, now: number) =>
  tx
    .selectFrom('alert_mutes')
    .where('account_id', '=', accountId)
    .where(({ or, eb }) => or([eb('until', 'is', null), eb('until', '>', now)]))

/** Returns the mutes of an account that still hold, in order of id. */
export function mutesOfAccount(tx: Tx, accountId: number, now: number, page?: RowsAsked): Promise<Mute[]> {
  const query = lasting(tx, accountId, now).select(columns).orderBy('id')
  return (page ? rowsOfPage(query, page, { column: 'id', order: 'asc' }) : query).execute()
}

export async function countMutes(tx: Tx, accountId: number, now: number): Promise<number> {
  const { count } = await lasting(tx, accountId, now)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

export function insertMute(
  tx: Tx,
  accountId: number,
  { siteId, kind, until, now }: Pick<Mute, 'siteId' | 'kind' | 'until'> & { readonly now: number },
): Promise<Mute> {
  return tx
    .insertInto('alert_mutes')
    .values({ account_id: accountId, site_id: siteId, kind, until, created_at: now })
    .returning(columns)
    .executeTakeFirstOrThrow()
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
