import { type SqlBool, sql } from 'kysely'
import type { Tx } from '../../../platform/db/database.ts'
import { firstAccount, suspendedAmong } from '../../account/public.ts'
import { PLATFORM } from '../alert.ts'

/**
 * Returns the accounts that get messages about a site: its owner, and collaborators who want those of shared sites. For
 * the installation, its operator.
 */
export async function audienceOf(tx: Tx, siteId: number): Promise<number[]> {
  const ids = siteId === PLATFORM ? await operatorOf(tx) : await peopleOf(tx, siteId)
  const suspended = await suspendedAmong(tx, ids)
  return ids.filter((id) => !suspended.has(id))
}

async function operatorOf(tx: Tx): Promise<number[]> {
  const operator = await firstAccount(tx)
  return operator ? [operator.id] : []
}

async function peopleOf(tx: Tx, siteId: number): Promise<number[]> {
  const rows = await tx
    .selectFrom('site_access')
    .innerJoin('sites', 'sites.id', 'site_access.site_id')
    .leftJoin('alert_settings', 'alert_settings.account_id', 'site_access.account_id')
    .select('site_access.account_id')
    .where('site_access.site_id', '=', siteId)
    .where('site_access.is_deleted', '=', 0)
    .where(sql<SqlBool>`(sites.account_id = site_access.account_id or alert_settings.mail_shared_sites = 1)`)
    .orderBy('site_access.account_id')
    .execute()
  return rows.map(({ account_id }) => account_id)
}
