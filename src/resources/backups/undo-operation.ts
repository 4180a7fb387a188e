import Type from 'typebox'
import type { Tx } from '../../platform/db/database.ts'
import { notFound, Problem } from '../../platform/http/problem.ts'
import { getOperation, type OperationView } from '../../platform/operations/read.ts'
import { problems as authenticationProblems } from '../authentication/problems.ts'
import { aboutSite } from '../change.ts'
import { endpoint } from '../endpoint.ts'
import { changeableOperation } from '../operations/change-operation.ts'
import { OperationId, OperationSchema, presentOperation } from '../operations/operation.ts'
import { problems as operationProblems } from '../operations/problems.ts'
import { problems as siteProblems } from '../sites/problems.ts'
import { demandInstalled, visibleSite } from '../sites/site.ts'
import { actions } from './actions.ts'
import { problems } from './problems.ts'
import { orderOfRestore, orderOfSync, type UndoPoint, undoingOf, undoPointsOf } from './restore.store.ts'
import type { RestoreOrder } from './restore.ts'
import { restoreSite } from './restore-site.job.ts'
import { scopeOf } from './sync.ts'

export const undoOperation = endpoint({
  id: 'undoOperation',
  method: 'POST',
  path: '/v1/operations/{id}/undo',
  summary: 'Undo a restore, a sync, or a change of plugins',
  description:
    'Brings back what the site was before, for 7 days: a restore of what the operation has kept, which can be undone in turn. Of a sync, it is the destination that ' +
    'becomes what it was, in those parts that were synced. Of plugins that were installed, updated or deleted, all plugins and the database become what they were. What was made on the site since is lost with it, as by any restore. Who may restore the site may do it. ' +
    'Answers with the operation that does it.',
  access: { account: 'own' },
  params: Type.Object({ id: OperationId }),
  response: OperationSchema,
  starts: true,
  problems: [
    problems.operation_not_undoable,
    operationProblems.operation_not_yours,
    siteProblems.site_not_live,
    authenticationProblems.forbidden,
  ],

  async handle(context, { params }) {
    const { tx, caller, definitions, now } = context
    const found = await changeableOperation(tx, caller, definitions, params.id)
    const site = found.siteId === null ? undefined : await visibleSite(tx, caller.accountId, found.siteId)
    if (!site) throw found.siteId === null ? notUndoable('it is about no site') : notFound()
    const changed = await changedBy(tx, found)
    const points = await pointsOf(tx, found, changed, { siteId: site.id, now })
    demandInstalled(site)
    const idOf = (kind: UndoPoint['kind']) => points.findLast((point) => point.kind === kind)?.id ?? null
    const id = await context.start(
      restoreSite,
      {
        siteId: site.id,
        sourceId: site.id,
        filesId: idOf('fs'),
        databaseId: idOf('db'),
        // what it did not touch, its undo does not either
        ...changed?.limits,
        askedById: caller.accountId,
        undoOf: found.id,
      },
      { about: aboutSite(site) },
    )
    await context.record({
      action: actions['site.restore_undo_ordered'],
      message: `Ordered the undo of ${found.type} (operation ${found.id})`,
      about: aboutSite(site),
    })
    return presentOperation((await getOperation(tx, id)) as OperationView)
  },
})

const changesPlugins = (type: string): boolean => type.startsWith('plugin.')

const notUndoable = (reason: string) => new Problem(problems.operation_not_undoable, { reason })

/** What of its site an operation has changed. */
interface Changed {
  readonly files: boolean
  readonly database: boolean
  /** Within these alone. */
  readonly limits: Pick<RestoreOrder, 'paths' | 'tables' | 'scope' | 'environment'>
}

/** @returns undefined for an operation that overwrites no site */
async function changedBy(tx: Tx, { id: operationId, type }: OperationView): Promise<Changed | undefined> {
  if (changesPlugins(type)) {
    const scope = { paths: ['wp-content/plugins'], except: [] }
    return { files: true, database: true, limits: { scope } }
  }
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
  const { paths, except = [] } = scopeOf(sync.parts)
  const [from, to] = [sync.environmentType, sync.environmentBefore]
  const limits = {
    scope: { paths: [...paths], except: [...except] },
    ...(from && to && from !== to && { environment: { from, to } }),
  }
  return { files: sync.parts.length > 0, database: sync.database, limits }
}

/** @throws Problem `operation_not_undoable` with the reason */
async function pointsOf(
  tx: Tx,
  operation: OperationView,
  changed: Changed | undefined,
  { siteId, now }: { readonly siteId: number; readonly now: number },
): Promise<UndoPoint[]> {
  if (operation.finishedAt === null) throw notUndoable(`it is ${operation.state} still`)
  // of several plugins some may have been changed
  const hasChanged = operation.state === 'succeeded' || changesPlugins(operation.type)
  if (!hasChanged) throw notUndoable(`it is ${operation.state}, and has changed nothing`)
  const points = await undoPointsOf(tx, siteId, operation.id, now)
  const isWhole = (kind: UndoPoint['kind']) => points.some((point) => point.kind === kind)
  if (changed && ((changed.files && !isWhole('fs')) || (changed.database && !isWhole('db'))))
    throw notUndoable('what was there before was kept for 7 days, and is gone')
  if (points.length === 0) throw notUndoable(`nothing is kept of what ${operation.type} changes`)
  const undoing = await undoingOf(tx, siteId, operation.id)
  if (undoing !== undefined) throw notUndoable(`operation ${undoing} does or did that already`)
  return points
}
