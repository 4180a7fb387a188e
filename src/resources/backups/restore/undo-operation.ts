import Type from 'typebox'
import { notFound } from '../../../platform/http/problem.ts'
import { findOperation, type OperationView } from '../../../platform/operations/read.ts'
import { problems as authenticationProblems } from '../../authentication/public.ts'
import { aboutSite } from '../../kit/change.ts'
import { endpoint } from '../../kit/endpoint.ts'
import {
  changeableOperation,
  OperationId,
  OperationSchema,
  problems as operationProblems,
  presentOperation,
} from '../../operations/public.ts'
import { holdVisibleSite, requireInstalled, problems as siteProblems } from '../../sites/public.ts'
import { actions } from '../actions.ts'
import { problems } from '../problems.ts'
import type { UndoPoint } from './restore.store.ts'
import { restoreSite } from './restore-site.job.ts'
import { changedBy, notUndoable, pointsOf } from './undoable-operations.ts'

export const undoOperation = endpoint({
  id: 'undoOperation',
  method: 'POST',
  path: '/v1/operations/{id}/undo',
  summary: 'Undo a restore, a sync, an import or a plugin change',
  description:
    'Restores the content that the operation kept for 7 days. You can undo the undo in the same way. For a sync, Stead restores ' +
    'the synced parts of the destination. For plugins that were installed, updated or deleted, it restores all plugins and the database. Changes made on the site since then are lost. Requires the permission to restore the site. ' +
    'Returns the operation that runs the undo.',
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
    const site = found.siteId === null ? undefined : await holdVisibleSite(tx, caller.accountId, found.siteId)
    if (!site) throw found.siteId === null ? notUndoable('it does not belong to a site') : notFound()
    const changed = await changedBy(tx, found)
    const points = await pointsOf(tx, found, changed, { siteId: site.id, now })
    requireInstalled(site)
    const idOf = (kind: UndoPoint['kind']) => points.findLast((point) => point.kind === kind)?.id ?? null
    const id = await context.start(
      restoreSite,
      {
        siteId: site.id,
        sourceId: site.id,
        filesId: idOf('fs'),
        databaseId: idOf('db'),
        // The undo does not touch what the operation did not touch.
        ...changed?.limits,
        askedById: caller.accountId,
        undoOf: found.id,
      },
      { about: aboutSite(site) },
    )
    await context.record({
      action: actions['site.restore_undo_ordered'],
      message: `Requested the undo of ${found.type} (operation ${found.id})`,
      about: aboutSite(site),
    })
    return presentOperation((await findOperation(tx, id)) as OperationView)
  },
})
