import type { Tx } from '../../../platform/db/database.ts'
import { Problem } from '../../../platform/http/problem.ts'
import type { OperationView } from '../../../platform/operations/read.ts'
import { findSite, isInstalled } from '../../sites/public.ts'
import { problems } from '../problems.ts'
import { scopeOfSync } from '../sync/sync.ts'
import {
  operationsWithUndoPoints,
  orderOfRestore,
  orderOfSync,
  type UndoPoint,
  undoingOf,
  undoPointsOf,
} from './restore.store.ts'
import type { RestoreOrder } from './restore.ts'

/** Returns which of these operations can be undone. Few have undo points, so these are checked one by one. */
export async function undoableAmong(
  tx: Tx,
  operations: readonly OperationView[],
  now: number,
): Promise<ReadonlySet<number>> {
  const ended = operations.filter(({ finishedAt, siteId }) => finishedAt !== null && siteId !== null)
  const kept = await operationsWithUndoPoints(tx, ended, now)
  const found = new Set<number>()
  for (const operation of ended)
    if (kept.has(operation.id) && (await isUndoable(tx, operation, now))) found.add(operation.id)
  return found
}

async function isUndoable(tx: Tx, operation: OperationView, now: number): Promise<boolean> {
  const site = await findSite(tx, operation.siteId as number)
  if (!site || !isInstalled(site)) return false
  const changed = await changedBy(tx, operation)
  return pointsOf(tx, operation, changed, { siteId: site.id, now }).then(
    () => true,
    (error: unknown) => {
      if (error instanceof Problem) return false
      throw error
    },
  )
}

/** It keeps its backups in case the new host loses the site. Restoring them would lose what was written there since. */
const changesPlaceOnly = (type: string): boolean => type === 'site.relocate'

const changesPlugins = (type: string): boolean => type.startsWith('plugin.')

export const notUndoable = (reason: string) => new Problem(problems.operation_not_undoable, { reason })

/** The changes of an operation at its site. */
interface Changed {
  readonly files: boolean
  readonly database: boolean
  /** The changes are limited to these. */
  readonly limits: Pick<RestoreOrder, 'paths' | 'tables' | 'scope' | 'environment'>
}

/**
 * Returns what an operation has changed.
 * @returns undefined for an operation that overwrites no site
 */
export async function changedBy(tx: Tx, { id: operationId, type }: OperationView): Promise<Changed | undefined> {
  if (changesPlugins(type)) {
    const isSafeUpdate = type === 'plugin.update_safely'
    const scope = { paths: ['wp-content/plugins', ...(isSafeUpdate ? ['wp-content/themes'] : [])], except: [] }
    return { files: true, database: true, limits: { scope } }
  }
  if (type === 'site.import') return { files: true, database: true, limits: {} }
  const restore = await orderOfRestore(tx, operationId)
  if (restore) {
    const { paths, tables, scope, environment } = restore
    const limits = {
      ...(paths && { paths }),
      ...(tables && { tables }),
      ...(scope && { scope }),
      ...(environment && { environment: { from: environment.to, to: environment.from } }),
    }
    return { files: restore.filesId !== null, database: restore.databaseId !== null, limits }
  }
  const sync = await orderOfSync(tx, operationId)
  if (!sync) return undefined
  const { paths, except = [] } = scopeOfSync(sync.parts)
  const [from, to] = [sync.environmentType, sync.environmentBefore]
  const limits = {
    scope: { paths: [...paths], except: [...except] },
    ...(typeof sync.database !== 'boolean' && { tables: sync.database }),
    ...(from && to && from !== to && { environment: { from, to } }),
  }
  return { files: sync.parts.length > 0, database: sync.database !== false, limits }
}

/**
 * Returns the undo points of an operation.
 * @throws Problem `operation_not_undoable` with the reason
 */
export async function pointsOf(
  tx: Tx,
  operation: OperationView,
  changed: Changed | undefined,
  { siteId, now }: { readonly siteId: number; readonly now: number },
): Promise<UndoPoint[]> {
  if (operation.finishedAt === null) throw notUndoable(`it is still ${operation.state}`)
  if (changesPlaceOnly(operation.type)) throw notUndoable('it did not change the content. Move the site again instead')
  // If several plugins were requested, some may have changed.
  const hasChanged = operation.state === 'succeeded' || changesPlugins(operation.type)
  if (!hasChanged) throw notUndoable(`it is ${operation.state} and changed nothing`)
  const points = await undoPointsOf(tx, siteId, operation.id, now)
  const isWhole = (kind: UndoPoint['kind']) => points.some((point) => point.kind === kind)
  if (changed && ((changed.files && !isWhole('fs')) || (changed.database && !isWhole('db'))))
    throw notUndoable('the previous content is kept for only 7 days')
  if (points.length === 0) throw notUndoable(`operations of type ${operation.type} keep no previous content`)
  const undoing = await undoingOf(tx, siteId, operation.id)
  if (undoing !== undefined) throw notUndoable(`operation ${undoing} already undoes it`)
  return points
}
