import type { Tx } from '../../../platform/db/database.ts'
import { isOneOf, listFor, precompiled } from '../../../platform/db/precompiled.ts'
import { isInProgress } from '../../../platform/operations/is-in-progress.ts'
import { touchRoutes } from '../addresses/route.store.ts'

/*
 * A site is closed while an operation works on it: visitors see nothing of it, and only the operation runs its PHP. It
 * is closed only until that operation ends. However that happens (it fails, is canceled, or is removed), the site is
 * open afterwards. Edges look a route up again after a minute at most. Opening the site tells them at once.
 */

/**
 * Closes a site for an operation. Does nothing if that operation has already closed it. The site is held.
 * @throws Error when another unfinished operation has closed it. A retry may help
 */
export async function closeSite(tx: Tx, siteId: number, operationId: number, now: number): Promise<void> {
  const site = await tx
    .selectFrom('sites')
    .select(['closed_by', isInProgress('sites.closed_by').as('isClosed')])
    .where('id', '=', siteId)
    .executeTakeFirst()
  if (!site) return
  if (site.isClosed === 1 && site.closed_by !== operationId)
    throw new Error(`Operation ${site.closed_by} is using the site`)
  await tx
    .updateTable('sites')
    // The count tells an operation that copies the site meanwhile that its copy is inconsistent.
    .set(({ eb }) => ({ closed_by: operationId, content_changes: eb('content_changes', '+', 1) }))
    .where('id', '=', siteId)
    .execute()
  await touchRoutes(tx, siteId, now)
}

/** Opens a site that this operation has closed. A site closed by another stays closed. */
export async function openSite(tx: Tx, siteId: number, operationId: number, now: number): Promise<void> {
  const { numUpdatedRows } = await tx
    .updateTable('sites')
    .set({ closed_by: null })
    .where('id', '=', siteId)
    .where('closed_by', '=', operationId)
    .executeTakeFirst()
  if (numUpdatedRows > 0n) await touchRoutes(tx, siteId, now)
}

/** The operation that keeps a site closed. */
export interface Closure {
  readonly operationId: number
  readonly type: string
}

/** Returns what keeps these sites closed. Open sites are not in it. */
export async function closuresOf(tx: Tx, siteIds: readonly number[]): Promise<ReadonlyMap<number, Closure>> {
  const rows = siteIds.length > 0 ? await closedSites(tx, { siteIds: listFor(tx, siteIds) }) : []
  return new Map(rows.map(({ id, operationId, type }) => [id, { operationId, type }]))
}

const closedSites = precompiled((tx, { siteIds }: { siteIds: unknown }) =>
  tx
    .selectFrom('sites')
    .innerJoin('operations', 'operations.id', 'sites.closed_by')
    .select(['sites.id', 'operations.id as operationId', 'operations.type'])
    .where(isOneOf(tx, 'sites.id', siteIds))
    .where('operations.finished_at', 'is', null),
)

/**
 * Tells whether a copy of a site's content is consistent: no operation works on the site, and none has since the copy
 * began.
 */
export interface ContentState {
  readonly isClosed: boolean
  readonly changes: number
}

/** @returns `undefined` for a site that was deleted */
export async function contentState(tx: Tx, siteId: number): Promise<ContentState | undefined> {
  const site = await tx
    .selectFrom('sites')
    .select(['content_changes', isInProgress('sites.closed_by').as('isClosed')])
    .where('id', '=', siteId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  return site && { isClosed: site.isClosed === 1, changes: site.content_changes }
}
