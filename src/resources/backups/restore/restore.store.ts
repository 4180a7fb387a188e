import type { Tx } from '../../../platform/db/database.ts'
import type { Backup, BackupKind } from '../backup.ts'
import type { SyncOrder } from '../sync/sync.ts'
import type { RestoreOrder } from './restore.ts'

/** Operation types, as their definitions name them. */
const RESTORE = 'site.restore'
const PREVIEW = 'site.preview_restore'
const SYNC = 'site.sync'
const SYNC_PREVIEW = 'site.preview_sync'

/** Backup of what an operation has overwritten. */
export interface UndoPoint {
  readonly id: number
  readonly kind: BackupKind
  readonly takenAt: number
}

/**
 * Returns an operation's undo points that still exist, by kind.
 * @param now milliseconds UTC. A backup that may be removed at any moment does not count
 */
export async function undoPointsOf(tx: Tx, siteId: number, operationId: number, now: number): Promise<UndoPoint[]> {
  const rows = await tx
    .selectFrom('backups')
    .select(['id', 'kind', 'taken_at as takenAt'])
    .where('site_id', '=', siteId)
    .where('operation_id', '=', operationId)
    .where('origin', '=', 'undo')
    .where('state', '=', 'completed')
    .where('delete_at', '>', now)
    .orderBy('id')
    .execute()
  return rows as UndoPoint[]
}

/**
 * Returns which of these site operations still have an undo point.
 * @param now as for {@link undoPointsOf}
 */
export async function operationsWithUndoPoints(
  tx: Tx,
  operations: readonly { readonly id: number; readonly siteId: number | null }[],
  now: number,
): Promise<ReadonlySet<number>> {
  if (operations.length === 0) return new Set()
  const rows = await tx
    .selectFrom('backups')
    .select('operation_id')
    .where('site_id', 'in', [...new Set(operations.flatMap(({ siteId }) => siteId ?? []))])
    .where(
      'operation_id',
      'in',
      operations.map(({ id }) => id),
    )
    .where('origin', '=', 'undo')
    .where('state', '=', 'completed')
    .where('delete_at', '>', now)
    .execute()
  return new Set(rows.flatMap(({ operation_id: id }) => id ?? []))
}

/** Returns backups of one kind, or of both, that an operation started and did not complete. */
export async function unfinishedUndoPoints(
  tx: Tx,
  siteId: number,
  operationId: number,
  kind?: Backup['kind'],
): Promise<Pick<Backup, 'id' | 'name'>[]> {
  const all = tx
    .selectFrom('backups')
    .select(['id', 'name'])
    .where('site_id', '=', siteId)
    .where('operation_id', '=', operationId)
    .where('origin', '=', 'undo')
    .where('state', '!=', 'completed')
  return (kind ? all.where('kind', '=', kind) : all).execute()
}

/** Returns the input of a restore, or `undefined` for an operation of another type. */
export const orderOfRestore = (tx: Tx, operationId: number): Promise<RestoreOrder | undefined> =>
  orderOf<RestoreOrder>(tx, operationId, RESTORE)

/** Returns the input of a sync, or `undefined` for an operation of another type. */
export const orderOfSync = (tx: Tx, operationId: number): Promise<SyncOrder | undefined> =>
  orderOf<SyncOrder>(tx, operationId, SYNC)

async function orderOf<Order>(tx: Tx, operationId: number, type: string): Promise<Order | undefined> {
  const row = await tx
    .selectFrom('operations')
    .select('input')
    .where('id', '=', operationId)
    .where('type', '=', type)
    .executeTakeFirst()
  return row && (JSON.parse(row.input) as Order)
}

/** Returns the restore that undoes, or has undone, an operation of a site. */
export async function undoingOf(tx: Tx, siteId: number, operationId: number): Promise<number | undefined> {
  const rows = await tx
    .selectFrom('operations')
    .select(['id', 'input'])
    .where('site_id', '=', siteId)
    .where('type', '=', RESTORE)
    .where('id', '>', operationId)
    .where('state', 'in', ['queued', 'running', 'succeeded'])
    .execute()
  return rows.find(({ input }) => (JSON.parse(input) as RestoreOrder).undoOf === operationId)?.id
}

/** Returns the first unfinished operation that needs a backup: a restore, a preview, or a sync that created it. */
export async function operationThatNeeds(tx: Tx, siteId: number, backupId: number): Promise<number | undefined> {
  const rows = await tx
    .selectFrom('operations')
    .select(['id', 'type', 'input'])
    .where('state', 'in', ['queued', 'running'])
    .where('type', 'in', [RESTORE, PREVIEW, SYNC, SYNC_PREVIEW])
    .orderBy('id')
    .execute()
  const needs = (type: string, input: string) => {
    if (type === SYNC || type === SYNC_PREVIEW)
      return (JSON.parse(input) as SyncOrder).backups.some(
        (each) => each.siteId === siteId && each.backupId === backupId,
      )
    const { sourceId, filesId, databaseId } = JSON.parse(input) as RestoreOrder
    return sourceId === siteId && (filesId === backupId || databaseId === backupId)
  }
  return rows.find(({ type, input }) => needs(type, input))?.id
}

/** Returns the result of a restore preview of this site, or `undefined` until it has succeeded. */
export const previewOf = (tx: Tx, siteId: number, operationId: number): Promise<unknown> =>
  reportOf(tx, siteId, operationId, PREVIEW)

/** Returns the same of a preview of a sync onto this site. */
export const previewOfSync = (tx: Tx, siteId: number, operationId: number): Promise<unknown> =>
  reportOf(tx, siteId, operationId, SYNC_PREVIEW)

async function reportOf(tx: Tx, siteId: number, operationId: number, type: string): Promise<unknown> {
  const row = await tx
    .selectFrom('operations')
    .innerJoin('operation_steps', 'operation_steps.operation_id', 'operations.id')
    .select('operation_steps.result')
    .where('operations.id', '=', operationId)
    .where('operations.site_id', '=', siteId)
    .where('operations.type', '=', type)
    .where('operations.state', '=', 'succeeded')
    .where('operation_steps.name', '=', 'report')
    .executeTakeFirst()
  return row?.result == null ? undefined : JSON.parse(row.result)
}

/** Returns the mail addresses of accounts, each once. */
export const mailboxesOf = (tx: Tx, accountIds: readonly number[]): Promise<{ id: number; email: string }[]> =>
  tx.selectFrom('accounts').select(['id', 'email']).where('id', 'in', accountIds).orderBy('id').execute()
