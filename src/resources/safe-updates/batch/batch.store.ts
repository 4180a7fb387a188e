import { batches } from '../../../platform/batches.ts'
import { lockForUpdate, type Tx } from '../../../platform/db/database.ts'
import { type RowsAsked, rowsOfPage } from '../../../platform/db/rows-of-page.ts'
import { updateOf } from '../safe-update.store.ts'
import type { StoredUpdate, UpdateState } from '../safe-update.ts'
import type { SafeUpdateBatchRow } from '../tables.ts'
import {
  type BatchSite,
  type BatchSiteState,
  type BatchState,
  type BatchWish,
  MOST_BATCHES,
  type StoredBatch,
} from './batch.ts'

interface NewBatch {
  readonly id: number
  readonly accountId: number
  readonly wish: BatchWish
  readonly siteIds: readonly number[]
  readonly now: number
}

/**
 * Creates a batch, unless it exists, and deletes the oldest of the account beyond the limit. In a batch that was retried,
 * sites whose update was not kept wait again.
 */
export async function beginBatch(tx: Tx, { id, accountId, wish, siteIds, now }: NewBatch): Promise<void> {
  const inserted = await tx
    .insertInto('safe_update_batches')
    .values({
      ...{ operation_id: id, account_id: accountId, wanted: JSON.stringify(wish), state: 'in_progress' },
      ...{ created_at: now, ended_at: null },
    })
    .onConflict((conflict) => conflict.column('operation_id').doNothing())
    .returning('operation_id')
    .execute()
  if (inserted.length === 0) return waitAgain(tx, id)
  const rows = siteIds.map((siteId) => ({ batch_id: id, site_id: siteId, state: 'waiting', reason: null }))
  for (const some of batches(rows, 1000)) await tx.insertInto('safe_update_batch_sites').values(some).execute()
  const old = await tx
    .selectFrom('safe_update_batches')
    .select('operation_id')
    .where('account_id', '=', accountId)
    .orderBy('operation_id', 'desc')
    .offset(MOST_BATCHES)
    .limit(MOST_BATCHES)
    .execute()
  await deleteBatches(
    tx,
    old.map(({ operation_id }) => operation_id),
  )
}

const AGAIN: readonly BatchSiteState[] = ['undone', 'failed', 'canceled']

async function waitAgain(tx: Tx, id: number): Promise<void> {
  await tx
    .updateTable('safe_update_batches')
    .set({ state: 'in_progress', ended_at: null })
    .where('operation_id', '=', id)
    .execute()
  await tx
    .updateTable('safe_update_batch_sites')
    .set({ state: 'waiting', reason: null, update_id: null })
    .where('batch_id', '=', id)
    .where('state', 'in', AGAIN)
    .execute()
}

/** Ends a batch. Sites that still wait are not updated. */
export async function endBatch(tx: Tx, id: number, state: BatchState, now: number): Promise<void> {
  await tx.updateTable('safe_update_batches').set({ state, ended_at: now }).where('operation_id', '=', id).execute()
  await tx
    .updateTable('safe_update_batch_sites')
    .set({ state: 'canceled' })
    .where('batch_id', '=', id)
    .where('state', '=', 'waiting')
    .execute()
}

/** Counts the batches of an account that are in progress. */
export async function countOpenBatches(tx: Tx, accountId: number): Promise<number> {
  const { count } = await tx
    .selectFrom('safe_update_batches')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('account_id', '=', accountId)
    .where('state', '=', 'in_progress')
    .executeTakeFirstOrThrow()
  return Number(count)
}

export async function findBatch(tx: Tx, accountId: number, id: number): Promise<StoredBatch | undefined> {
  const row = await tx
    .selectFrom('safe_update_batches')
    .selectAll()
    .where('operation_id', '=', id)
    .where('account_id', '=', accountId)
    .executeTakeFirst()
  return row && batchOf(row)
}

const batchOf = (row: SafeUpdateBatchRow): StoredBatch => ({
  ...{ id: Number(row.operation_id), accountId: Number(row.account_id), state: row.state as BatchState },
  ...{ wish: JSON.parse(row.wanted) as BatchWish, createdAt: Number(row.created_at) },
  endedAt: row.ended_at === null ? null : Number(row.ended_at),
})

/** Returns the sites of a batch in order of ID, with the names of those that the account sees. */
export async function sitesOfBatch(tx: Tx, accountId: number, id: number): Promise<BatchSite[]> {
  const rows = await tx
    .selectFrom('safe_update_batch_sites as part')
    .leftJoin('site_access as seen', (join) =>
      join
        .onRef('seen.site_id', '=', 'part.site_id')
        .on('seen.account_id', '=', accountId)
        .on('seen.is_deleted', '=', 0),
    )
    .leftJoin('sites', 'sites.id', 'seen.site_id')
    .select(['part.site_id', 'part.state', 'part.reason', 'part.update_id', 'sites.display_name'])
    .where('part.batch_id', '=', id)
    .orderBy('part.site_id')
    .execute()
  return rows.map((row) => ({
    ...{ siteId: Number(row.site_id), name: row.display_name, state: row.state as BatchSiteState },
    ...{ reason: row.reason, updateId: row.update_id === null ? null : Number(row.update_id) },
  }))
}

/** Returns how many sites of a batch have each state. */
export async function statesOfBatch(tx: Tx, id: number): Promise<ReadonlyMap<BatchSiteState, number>> {
  const rows = await tx
    .selectFrom('safe_update_batch_sites')
    .select(({ fn }) => ['state', fn.countAll<number>().as('count')])
    .where('batch_id', '=', id)
    .groupBy('state')
    .execute()
  return new Map(rows.map(({ state, count }) => [state as BatchSiteState, Number(count)]))
}

/** Returns the sites of a batch whose updates have not begun, with their hosts. */
export async function waitingSites(tx: Tx, id: number): Promise<{ siteId: number; hostId: number | null }[]> {
  const rows = await tx
    .selectFrom('safe_update_batch_sites as part')
    .leftJoin('sites', 'sites.id', 'part.site_id')
    .select(['part.site_id', 'sites.host_id'])
    .where('part.batch_id', '=', id)
    .where('part.state', '=', 'waiting')
    .orderBy('part.site_id')
    .execute()
  return rows.map((row) => ({ siteId: Number(row.site_id), hostId: row.host_id }))
}

/** Changes the state of a site that waits. */
export async function setBatchSite(
  tx: Tx,
  id: number,
  siteId: number,
  to: { readonly state: BatchSiteState; readonly reason?: string; readonly updateId?: number },
): Promise<void> {
  await tx
    .updateTable('safe_update_batch_sites')
    .set({ state: to.state, reason: to.reason?.slice(0, 1000) ?? null, update_id: to.updateId ?? null })
    .where('batch_id', '=', id)
    .where('site_id', '=', siteId)
    .where('state', '=', 'waiting')
    .execute()
}

/** Returns the sites whose updates ended without a report, as when their operations were deleted. */
export async function sitesOfLostUpdates(tx: Tx, id: number): Promise<number[]> {
  const rows = await tx
    .selectFrom('safe_update_batch_sites as part')
    .leftJoin('operations', (join) =>
      join.onRef('operations.id', '=', 'part.update_id').on('operations.finished_at', 'is', null),
    )
    .select('part.site_id')
    .where('part.batch_id', '=', id)
    .where('part.state', '=', 'in_progress')
    .where('operations.id', 'is', null)
    .execute()
  return rows.map(({ site_id }) => Number(site_id))
}

/** Marks the updates of {@link sitesOfLostUpdates} as failed. */
export async function failLostUpdates(tx: Tx, id: number): Promise<void> {
  const lost = await sitesOfLostUpdates(tx, id)
  if (lost.length === 0) return
  await tx
    .updateTable('safe_update_batch_sites')
    .set({ state: 'failed', reason: 'Its operation has ended without a report' })
    .where('batch_id', '=', id)
    .where('state', '=', 'in_progress')
    .where('site_id', 'in', lost)
    .execute()
}

/** Counts the sites that batches and policies update now, in the whole installation. */
export async function countRunning(tx: Tx, type: string): Promise<number> {
  const { count } = await tx
    .selectFrom('operations')
    .innerJoin('safe_updates as begun', 'begun.operation_id', 'operations.id')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('operations.type', '=', type)
    .where('operations.finished_at', 'is', null)
    .where(({ eb, or }) => or([eb('begun.batch_id', 'is not', null), eb('begun.by_policy', '=', 1)]))
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Returns the hosts on which a safe update is queued or runs. */
export async function busyHosts(tx: Tx, type: string): Promise<Set<number>> {
  const rows = await tx
    .selectFrom('operations')
    .select('host_id')
    .where('type', '=', type)
    .where('finished_at', 'is', null)
    .groupBy('host_id')
    .execute()
  return new Set(rows.flatMap(({ host_id }) => host_id ?? []))
}

/** Lets one transaction at a time begin updates, so that two batches do not take the same place. */
export async function holdPlaces(tx: Tx): Promise<void> {
  const first = await tx.selectFrom('hosts').select('id').orderBy('id').limit(1).executeTakeFirst()
  if (first) await lockForUpdate(tx, 'hosts', first.id)
}

/**
 * Returns the waiting sites of a batch that older batches in progress update, too, with the oldest such batch of each.
 * @param siteId looks only for this site
 */
export async function olderBatches(tx: Tx, id: number, siteId?: number): Promise<Map<number, number>> {
  const all = tx
    .selectFrom('safe_update_batch_sites as waiting')
    .innerJoin('safe_update_batch_sites as part', 'part.site_id', 'waiting.site_id')
    .innerJoin('safe_update_batches as batch', 'batch.operation_id', 'part.batch_id')
    .select(['part.site_id', 'part.batch_id'])
    .where('waiting.batch_id', '=', id)
    .where('waiting.state', '=', 'waiting')
    .where('part.batch_id', '<', id)
    .where('part.state', 'in', ['waiting', 'in_progress'])
    .where('batch.state', '=', 'in_progress')
    // The last one of a site stays in the map.
    .orderBy('part.batch_id', 'desc')
  const rows = await (siteId === undefined ? all : all.where('waiting.site_id', '=', siteId)).execute()
  return new Map(rows.map(({ site_id, batch_id }) => [Number(site_id), Number(batch_id)]))
}

/** Which safe updates a list has: those of sites that an account sees. */
export interface UpdatesFilter {
  readonly accountId: number
  readonly state?: UpdateState | undefined
  readonly batchId?: number | undefined
}

/** Returns safe updates with the names of their sites, newest first. */
export async function updatesSeen(
  tx: Tx,
  filter: UpdatesFilter,
  asked: RowsAsked,
): Promise<(StoredUpdate & { readonly siteName: string })[]> {
  const all = seen(tx, filter)
    .innerJoin('sites', 'sites.id', 'safe_updates.site_id')
    .selectAll('safe_updates')
    .select('sites.display_name')
    .orderBy('safe_updates.operation_id', 'desc')
  const page = rowsOfPage(all, asked, { column: 'safe_updates.operation_id', order: 'desc' })
  return (await page.execute()).map((row) => ({ ...updateOf(row), siteName: row.display_name }))
}

export async function countUpdatesSeen(tx: Tx, filter: UpdatesFilter): Promise<number> {
  const { count } = await seen(tx, filter)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

function seen(tx: Tx, { accountId, state, batchId }: UpdatesFilter) {
  let query = tx
    .selectFrom('safe_updates')
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('site_access')
          .select('site_access.site_id')
          .whereRef('site_access.site_id', '=', 'safe_updates.site_id')
          .where('site_access.account_id', '=', accountId)
          .where('site_access.is_deleted', '=', 0),
      ),
    )
  if (state !== undefined) query = query.where('safe_updates.state', '=', state)
  if (batchId !== undefined) query = query.where('safe_updates.batch_id', '=', batchId)
  return query
}

/** @returns how many batches; call again until it is 0 */
export async function forgetBatches(tx: Tx, before: number, most: number): Promise<number> {
  const rows = await tx
    .selectFrom('safe_update_batches')
    .select('operation_id')
    .where('created_at', '<', before)
    .orderBy('created_at')
    .limit(most)
    .execute()
  await deleteBatches(
    tx,
    rows.map(({ operation_id }) => operation_id),
  )
  return rows.length
}

export async function deleteBatchesOfAccount(tx: Tx, accountId: number): Promise<void> {
  const ids = tx.selectFrom('safe_update_batches').select('operation_id').where('account_id', '=', accountId)
  await tx.deleteFrom('safe_update_batch_sites').where('batch_id', 'in', ids).execute()
  await tx.deleteFrom('safe_update_batches').where('account_id', '=', accountId).execute()
}

async function deleteBatches(tx: Tx, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return
  await tx.deleteFrom('safe_update_batch_sites').where('batch_id', 'in', ids).execute()
  await tx.deleteFrom('safe_update_batches').where('operation_id', 'in', ids).execute()
}
