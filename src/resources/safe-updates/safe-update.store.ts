import type { Selectable } from 'kysely'
import type { Tx } from '../../platform/db/database.ts'
import type { ActivePlugins } from '../plugins/public.ts'
import { deletePolicyOfSite } from './policy/policy.store.ts'
import {
  MOST_REPORTS,
  type NewMessage,
  type PictureKind,
  type StoredUpdate,
  type UpdatedItem,
  type UpdatedPage,
  type UpdateState,
} from './safe-update.ts'
import { deleteSafeUpdateSettings } from './settings/safe-update-settings.store.ts'
import type { SafeUpdatePictureRow, SafeUpdateRow } from './tables.ts'

/** The state that an undo restores: the active plugins, and the files and folders that change. */
export interface Changing {
  readonly before: ActivePlugins
  /** Main files of the plugins that change. */
  readonly plugins: readonly string[]
  /** Below the web root. */
  readonly paths: readonly string[]
}

/** Creates the report of an operation, unless it exists, and deletes the oldest beyond the limit. */
export async function beginReport(
  tx: Tx,
  operationId: number,
  siteId: number,
  now: number,
  { batchId = null, isByPolicy = false }: { readonly batchId?: number | null; readonly isByPolicy?: boolean } = {},
): Promise<void> {
  await tellBatch(tx, operationId, { state: 'in_progress', reason: null })
  await tx
    .insertInto('safe_updates')
    .values({
      ...{ operation_id: operationId, site_id: siteId, state: 'in_progress', reason: null, created_at: now },
      ...{ items: '[]', pages: '[]', logged: '[]', no_pictures: null, changing: null, ended_at: null },
      ...{ batch_id: batchId, by_policy: isByPolicy ? 1 : 0 },
    })
    // A retry begins again.
    .onConflict((conflict) =>
      conflict.column('operation_id').doUpdateSet({ state: 'in_progress', reason: null, ended_at: null }),
    )
    .execute()
  const old = await tx
    .selectFrom('safe_updates')
    .select('operation_id')
    .where('site_id', '=', siteId)
    .orderBy('operation_id', 'desc')
    .offset(MOST_REPORTS)
    .limit(MOST_REPORTS)
    .execute()
  await deleteReports(
    tx,
    old.map(({ operation_id }) => operation_id),
  )
}

/** What is known of an update so far. */
export interface Findings {
  readonly items: readonly UpdatedItem[]
  readonly pages: readonly UpdatedPage[]
  readonly logged: readonly NewMessage[]
  readonly noPictures: string | null
}

export async function storeFindings(tx: Tx, operationId: number, found: Findings): Promise<void> {
  await tx
    .updateTable('safe_updates')
    .set({
      items: JSON.stringify(found.items),
      pages: JSON.stringify(found.pages),
      logged: JSON.stringify(found.logged),
      no_pictures: found.noPictures,
    })
    .where('operation_id', '=', operationId)
    .execute()
}

export async function endReport(
  tx: Tx,
  operationId: number,
  { state, reason, now }: { readonly state: UpdateState; readonly reason: string | null; readonly now: number },
): Promise<void> {
  await tx
    .updateTable('safe_updates')
    .set({ state, reason, ended_at: now })
    .where('operation_id', '=', operationId)
    .execute()
  await tellBatch(tx, operationId, { state, reason })
}

/** Notes the state of an update in its batch, if it has one. */
async function tellBatch(
  tx: Tx,
  operationId: number,
  now: { readonly state: UpdateState; readonly reason: string | null },
): Promise<void> {
  await tx.updateTable('safe_update_batch_sites').set(now).where('update_id', '=', operationId).execute()
}

export async function setChanging(tx: Tx, operationId: number, changing: Changing | null): Promise<void> {
  await tx
    .updateTable('safe_updates')
    .set({ changing: changing && JSON.stringify(changing) })
    .where('operation_id', '=', operationId)
    .execute()
}

export async function changingOf(tx: Tx, operationId: number): Promise<Changing | undefined> {
  const row = await tx
    .selectFrom('safe_updates')
    .select('changing')
    .where('operation_id', '=', operationId)
    .executeTakeFirst()
  return row?.changing ? (JSON.parse(row.changing) as Changing) : undefined
}

/** Returns reports, newest first. */
export async function updatesOfSite(
  tx: Tx,
  siteId: number,
  { perPage, offset, after }: { readonly perPage: number; readonly offset: number; readonly after?: number },
): Promise<StoredUpdate[]> {
  const all = tx.selectFrom('safe_updates').selectAll().where('site_id', '=', siteId).limit(perPage)
  const rows = await (after === undefined
    ? all.orderBy('operation_id', 'desc').offset(offset)
    : all.where('operation_id', '>', after).orderBy('operation_id')
  ).execute()
  return rows.map(updateOf)
}

export async function countUpdates(tx: Tx, siteId: number): Promise<number> {
  const { count } = await tx
    .selectFrom('safe_updates')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('site_id', '=', siteId)
    .executeTakeFirstOrThrow()
  return Number(count)
}

export async function findUpdate(tx: Tx, siteId: number, id: number): Promise<StoredUpdate | undefined> {
  const row = await tx
    .selectFrom('safe_updates')
    .selectAll()
    .where('site_id', '=', siteId)
    .where('operation_id', '=', id)
    .executeTakeFirst()
  return row && updateOf(row)
}

export const updateOf = (row: Selectable<SafeUpdateRow>): StoredUpdate => ({
  id: Number(row.operation_id),
  state: row.state as UpdateState,
  reason: row.reason,
  items: JSON.parse(row.items) as UpdatedItem[],
  pages: JSON.parse(row.pages) as UpdatedPage[],
  logged: JSON.parse(row.logged) as NewMessage[],
  noPictures: row.no_pictures,
  siteId: Number(row.site_id),
  batchId: row.batch_id === null ? null : Number(row.batch_id),
  isByPolicy: row.by_policy === 1,
  createdAt: Number(row.created_at),
  endedAt: row.ended_at === null ? null : Number(row.ended_at),
})

/** Replaces the pictures of a report. */
export async function storePictures(
  tx: Tx,
  operationId: number,
  pictures: readonly Omit<SafeUpdatePictureRow, 'operation_id'>[],
): Promise<void> {
  await tx.deleteFrom('safe_update_pictures').where('operation_id', '=', operationId).execute()
  for (const picture of pictures)
    await tx
      .insertInto('safe_update_pictures')
      .values({ operation_id: operationId, ...picture })
      .execute()
}

/** Returns a picture of a report, as JPEG. */
export async function findPicture(
  tx: Tx,
  siteId: number,
  {
    id,
    page,
    width,
    kind,
  }: { readonly id: number; readonly page: number; readonly width: number; readonly kind: PictureKind },
): Promise<Buffer | undefined> {
  const row = await tx
    .selectFrom('safe_update_pictures as taken')
    .innerJoin('safe_updates as of', 'of.operation_id', 'taken.operation_id')
    .select('taken.picture')
    .where('of.site_id', '=', siteId)
    .where('taken.operation_id', '=', id)
    .where('taken.page', '=', page)
    .where('taken.width', '=', width)
    .where('taken.kind', '=', kind)
    .executeTakeFirst()
  return row && Buffer.from(row.picture, 'base64')
}

/** Returns the unfinished safe update of a site. */
export async function updateInProgress(tx: Tx, type: string, siteId: number): Promise<number | undefined> {
  const row = await tx
    .selectFrom('operations')
    .select('id')
    .where('site_id', '=', siteId)
    .where('type', '=', type)
    .where('finished_at', 'is', null)
    .limit(1)
    .executeTakeFirst()
  return row && Number(row.id)
}

async function deleteReports(tx: Tx, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return
  for (const table of ['safe_update_pictures', 'safe_updates'] as const)
    await tx.deleteFrom(table).where('operation_id', 'in', ids).execute()
}

export async function deleteUpdatesOfSite(tx: Tx, siteId: number): Promise<void> {
  const ids = tx.selectFrom('safe_updates').select('operation_id').where('site_id', '=', siteId)
  await tx.deleteFrom('safe_update_pictures').where('operation_id', 'in', ids).execute()
  await tx.deleteFrom('safe_updates').where('site_id', '=', siteId).execute()
  await tx.deleteFrom('safe_update_batch_sites').where('site_id', '=', siteId).execute()
  await deleteSafeUpdateSettings(tx, siteId)
  await deletePolicyOfSite(tx, siteId)
}

/** @returns how many reports; call again until it is 0 */
export async function forgetUpdates(tx: Tx, before: number, most: number): Promise<number> {
  const rows = await tx
    .selectFrom('safe_updates')
    .select('operation_id')
    .where('created_at', '<', before)
    .orderBy('created_at')
    .limit(most)
    .execute()
  await deleteReports(
    tx,
    rows.map(({ operation_id }) => operation_id),
  )
  return rows.length
}
