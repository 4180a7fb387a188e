import type { Tx } from '../../../platform/db/database.ts'
import { isOneOf, listFor, precompiled } from '../../../platform/db/precompiled.ts'
import { isInProgress } from '../../../platform/operations/is-in-progress.ts'
import { touchRoutes } from '../addresses/route.store.ts'

/*
 * A site that is being worked on is closed: nobody sees anything of it, and none of its PHP runs but for the work. It is closed by an operation,
 * and only as long as that has not ended: whatever becomes of the operation (it fails, is canceled, is forgotten), the site is open afterwards.
 * Edges look a route up again after a minute at most; opening it tells them at once.
 */

/**
 * Closes a site for an operation; one that it has closed already stays so. The site is held.
 * @throws Error when another operation that has not ended has closed it: try again
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
    // whoever copies the site meanwhile learns from it that he has some of both
    .set(({ eb }) => ({ closed_by: operationId, content_changes: eb('content_changes', '+', 1) }))
    .where('id', '=', siteId)
    .execute()
  await touchRoutes(tx, siteId, now)
}

/** Opens a site that this operation has closed; another's stays closed. */
export async function openSite(tx: Tx, siteId: number, operationId: number, now: number): Promise<void> {
  const { numUpdatedRows } = await tx
    .updateTable('sites')
    .set({ closed_by: null })
    .where('id', '=', siteId)
    .where('closed_by', '=', operationId)
    .executeTakeFirst()
  if (numUpdatedRows > 0n) await touchRoutes(tx, siteId, now)
}

/** What keeps a site closed. */
export interface Closure {
  readonly operationId: number
  readonly type: string
}

/** Returns what keeps these sites closed. Sites that are open are not in it. */
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

/** What tells whether a copy of a site's content is of one time: nobody else works on it, and nobody has since a copy was begun. */
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
