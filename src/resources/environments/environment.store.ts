import type { Selectable } from 'kysely'
import type { Tx } from '../../platform/db/database.ts'
import type { DatabaseReplaced } from '../kit/site-hooks.ts'
import type { EnvironmentLink } from './environment.ts'
import type { SiteEnvironmentRow } from './tables.ts'

const linkOfRow = (row: Selectable<SiteEnvironmentRow>): EnvironmentLink => ({
  siteId: row.site_id,
  liveSiteId: row.live_site_id,
  linkedAt: row.linked_at,
  levelAt: row.level_at,
})

/** Selects links of which both sites exist. A site in the trash hides its links. */
const links = (tx: Tx) =>
  tx
    .selectFrom('site_environments')
    .innerJoin('sites as environment', 'environment.id', 'site_environments.site_id')
    .innerJoin('sites as live', 'live.id', 'site_environments.live_site_id')
    .selectAll('site_environments')
    .where('environment.deleted_at', 'is', null)
    .where('live.deleted_at', 'is', null)

/** Returns the link of an environment. */
export async function linkOf(tx: Tx, siteId: number): Promise<EnvironmentLink | undefined> {
  const row = await links(tx).where('site_environments.site_id', '=', siteId).executeTakeFirst()
  return row && linkOfRow(row)
}

/** Returns the links of a live site, oldest first. */
export async function linksOfLive(tx: Tx, liveSiteId: number): Promise<EnvironmentLink[]> {
  const rows = await links(tx)
    .where('site_environments.live_site_id', '=', liveSiteId)
    .orderBy('site_environments.linked_at')
    .orderBy('site_environments.site_id')
    .execute()
  return rows.map(linkOfRow)
}

/** Returns the links of live sites that an account sees, in order of live site, oldest first. */
export async function linksOfLiveSites(
  tx: Tx,
  accountId: number,
  liveSiteIds: readonly number[],
): Promise<EnvironmentLink[]> {
  const rows = await links(tx)
    .innerJoin('site_access as seen', 'seen.site_id', 'site_environments.live_site_id')
    .where('seen.account_id', '=', accountId)
    .where('seen.is_deleted', '=', 0)
    .where('site_environments.live_site_id', 'in', liveSiteIds)
    .orderBy('site_environments.live_site_id')
    .orderBy('site_environments.linked_at')
    .orderBy('site_environments.site_id')
    .execute()
  return rows.map(linkOfRow)
}

/**
 * Links an environment. The caller holds both sites, and has checked the rules. Links that only the trash hides end:
 * otherwise a site that is restored from it could make a chain, or a second live site.
 * @param copiedAt when its content was copied from the live site, or null if unknown
 */
export async function insertLink(
  tx: Tx,
  { siteId, liveSiteId, copiedAt, now }: { siteId: number; liveSiteId: number; copiedAt: number | null; now: number },
): Promise<EnvironmentLink> {
  await tx
    .deleteFrom('site_environments')
    .where(({ eb, or }) => or([eb('site_id', 'in', [siteId, liveSiteId]), eb('live_site_id', '=', siteId)]))
    .execute()
  const row = { site_id: siteId, live_site_id: liveSiteId, linked_at: now, copied_at: copiedAt, level_at: copiedAt }
  await tx
    .insertInto('site_environments')
    .values({ ...row, level_before: null, level_operation_id: null })
    .execute()
  return { siteId, liveSiteId, linkedAt: now, levelAt: copiedAt }
}

export async function deleteLink(tx: Tx, siteId: number): Promise<void> {
  await tx.deleteFrom('site_environments').where('site_id', '=', siteId).execute()
}

/** Ends the links of a site that was purged from the trash. */
export async function unlinkForgottenSite(tx: Tx, siteId: number): Promise<void> {
  await tx
    .deleteFrom('site_environments')
    .where(({ eb, or }) => or([eb('site_id', '=', siteId), eb('live_site_id', '=', siteId)]))
    .execute()
}

/**
 * Notes since when the databases of an environment and its live site may differ. After a sync between them, that is the
 * moment of the copy. The undo of that sync returns to the moment before. After a restore of its own backup, it is the
 * first copy, because the backup may be older than later syncs. After anything else, nothing is known.
 */
export async function noteReplacedDatabase(tx: Tx, { siteId, from, at, by, undoOf }: DatabaseReplaced): Promise<void> {
  const rows = await tx
    .selectFrom('site_environments')
    .selectAll()
    .where(({ eb, or }) => or([eb('site_id', '=', siteId), eb('live_site_id', '=', siteId)]))
    .execute()
  for (const row of rows)
    await tx
      .updateTable('site_environments')
      .set(levelAfter(row, { siteId, from, at, by, undoOf }))
      .where('site_id', '=', row.site_id)
      .execute()
}

type Level = Pick<Selectable<SiteEnvironmentRow>, 'copied_at' | 'level_at' | 'level_before' | 'level_operation_id'>

function levelAfter(
  row: Selectable<SiteEnvironmentRow>,
  { siteId, from, at, by, undoOf }: DatabaseReplaced,
): Partial<Level> {
  const other = row.site_id === siteId ? row.live_site_id : row.site_id
  if (from === other && at !== undefined) return { level_at: at, level_before: row.level_at, level_operation_id: by }
  if (from !== siteId) return { copied_at: null, level_at: null, level_before: null, level_operation_id: null }
  const isUndone = undoOf !== undefined && undoOf === row.level_operation_id
  return { level_at: isUndone ? row.level_before : row.copied_at, level_before: null, level_operation_id: null }
}
