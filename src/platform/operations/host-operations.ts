import { sql } from 'kysely'
import { announce, isPostgres, type Tx } from '../db/database.ts'
import type { Definitions } from './definition.ts'
import { databaseNow, type StoredOperation } from './worker/lease.ts'
import { end, rollBack } from './worker/operation-state.ts'

/* Operations that are bound to a host which will not come back. */

/** The due time of held operations, later than any that a caller can request. */
const HELD_UNTIL_MS = Date.UTC(9999, 0)

/** An operation that has not ended. */
export interface OpenOperation {
  readonly id: number
  readonly type: string
  readonly siteId: number | null
  /** Whether a worker has taken it up. */
  readonly isBegun: boolean
}

/**
 * Returns operations on a host that are due and have not ended, oldest first.
 * @param siteId only those of the site
 */
export async function openOnHost(tx: Tx, hostId: number, siteId?: number): Promise<OpenOperation[]> {
  const rows = await tx
    .selectFrom('operations')
    .select(['id', 'type', 'site_id', 'started_at'])
    .where('host_id', '=', hostId)
    .where('finished_at', 'is', null)
    .where(({ eb, or }) => or([eb('started_at', 'is not', null), eb('run_at', '<=', databaseNow(tx))]))
    .$if(siteId !== undefined, (query) => query.where('site_id', '=', siteId as number))
    .orderBy('id')
    .execute()
  return rows.map((row) => ({
    ...{ id: row.id, type: row.type, siteId: row.site_id, isBegun: row.started_at !== null },
  }))
}

/** Returns all operations that are bound to a host and have not ended, also those that are not due, oldest first. */
export async function unfinishedOnHost(tx: Tx, hostId: number): Promise<number[]> {
  const open = tx.selectFrom('operations').select('id').where('host_id', '=', hostId)
  return (await open.where('finished_at', 'is', null).orderBy('id').execute()).map(({ id }) => id)
}

/**
 * Binds the operations of a site to another host, including ended ones, so that a retry runs there.
 * @param hosts.except an operation that stays
 */
export async function bindToHost(
  tx: Tx,
  siteId: number,
  hosts: { from: number; to: number; except?: number },
): Promise<void> {
  const { from, to, except = 0 } = hosts
  await tx
    .updateTable('operations')
    .set({ host_id: to })
    .where('site_id', '=', siteId)
    .where('host_id', '=', from)
    .where('id', '!=', except)
    .execute()
  await announce(tx, 'operations')
}

/** Requeues an operation whose worker is gone, so that it runs elsewhere from the interrupted step. */
export async function requeueInterrupted(tx: Tx, id: number): Promise<void> {
  await tx
    .updateTable('operations')
    .set({
      state: 'queued',
      lease_owner: null,
      lease_until: null,
      run_at: databaseNow(tx),
      waits_since: databaseNow(tx),
    })
    .where('id', '=', id)
    .where('state', '=', 'running')
    .execute()
  await announce(tx, 'operations')
}

/**
 * Ends an operation as failed. Nothing is undone: the effects of its steps are gone with its host, so a retry runs them
 * again. Commit steps stay done, because their effect is in the database.
 * @param context.isTold whether the `failed` hook of its definition runs
 */
export async function abandonOperation(
  tx: Tx,
  id: number,
  reason: string,
  context: { readonly now: number; readonly definitions: Definitions; readonly isTold?: boolean },
): Promise<void> {
  const { now, definitions, isTold = true } = context
  const { rows } = await sql<StoredOperation>`select * from operations where id = ${id} and finished_at is null
    ${isPostgres(tx) ? sql`for update` : sql``}`.execute(tx)
  const [operation] = rows
  if (!operation) return
  const definition = definitions.get(operation.type)
  const commits = Object.entries(definition?.steps ?? {}).flatMap(([name, { commit }]) => (commit ? [name] : []))
  await tx
    .updateTable('operation_steps')
    .set({ state: 'undone', finished_at: now })
    .where('operation_id', '=', id)
    .where('state', 'not in', ['pending', 'skipped'])
    .$if(commits.length > 0, (query) => query.where('name', 'not in', commits))
    .execute()
  const steps = await tx.selectFrom('operation_steps').selectAll().where('operation_id', '=', id).execute()
  await rollBack(tx, operation, 'failed', reason)
  await end(tx, { operation, steps }, isTold ? definition : undefined, 'failed', { clock: () => now })
}

/** Makes queued operations wait until a newer one has ended. The caller then calls {@link releaseHeld} for it. */
export async function holdFor(tx: Tx, ids: readonly number[], newerId: number): Promise<void> {
  if (ids.length === 0) return
  await tx
    .insertInto('operation_waits')
    .values(ids.map((id) => ({ operation_id: id, for_id: newerId })))
    .execute()
  await tx
    .updateTable('operations')
    // An operation that is not due holds up no other operation of its site.
    .set({ run_at: HELD_UNTIL_MS, waits_since: null })
    .where('id', 'in', ids)
    .execute()
}

/** Makes the operations due that {@link holdFor} has held for an operation. */
export async function releaseHeld(tx: Tx, forId: number): Promise<void> {
  await tx
    .updateTable('operations')
    .set({ run_at: databaseNow(tx), waits_since: databaseNow(tx) })
    .where('state', '=', 'queued')
    .where('run_at', '=', HELD_UNTIL_MS)
    .where('id', 'in', ({ selectFrom }) =>
      selectFrom('operation_waits').select('operation_id').where('for_id', '=', forId),
    )
    .execute()
  await announce(tx, 'operations')
}
