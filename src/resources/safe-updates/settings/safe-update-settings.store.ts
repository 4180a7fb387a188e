import type { Tx } from '../../../platform/db/database.ts'
import type { ListedSite, Site } from '../../sites/public.ts'
import { noSettings, type SafeUpdateSettings } from './safe-update-settings.ts'

export async function safeUpdateSettingsOf(tx: Tx, siteId: number): Promise<SafeUpdateSettings> {
  const row = await tx.selectFrom('safe_update_settings').selectAll().where('site_id', '=', siteId).executeTakeFirst()
  return row ? { masks: JSON.parse(row.masks), paths: JSON.parse(row.paths) } : noSettings
}

export async function setSafeUpdateSettings(tx: Tx, siteId: number, settings: SafeUpdateSettings): Promise<void> {
  const row = { masks: JSON.stringify(settings.masks), paths: JSON.stringify(settings.paths) }
  await tx
    .insertInto('safe_update_settings')
    .values({ site_id: siteId, ...row })
    .onConflict((conflict) => conflict.column('site_id').doUpdateSet(row))
    .execute()
}

/** Gives a clone the settings of its source, because it has the same pages. */
export async function copySafeUpdateSettings(tx: Tx, site: Site): Promise<Partial<ListedSite>> {
  if (site.clonedFromId === null) return {}
  const settings = await safeUpdateSettingsOf(tx, site.clonedFromId)
  if (settings !== noSettings) await setSafeUpdateSettings(tx, site.id, settings)
  return {}
}

export async function deleteSafeUpdateSettings(tx: Tx, siteId: number): Promise<void> {
  await tx.deleteFrom('safe_update_settings').where('site_id', '=', siteId).execute()
}
