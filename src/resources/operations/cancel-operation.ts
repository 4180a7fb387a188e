import Type from 'typebox'
import { Problem } from '../../platform/http/problem.ts'
import { requestCancel } from '../../platform/operations/control.ts'
import { findOperation, type OperationView } from '../../platform/operations/read.ts'
import { problems as authenticationProblems } from '../authentication/public.ts'
import { endpoint } from '../kit/endpoint.ts'
import { actions } from './actions.ts'
import { changeableOperation } from './change-operation.ts'
import { OperationId, OperationSchema, presentOperation } from './operation.ts'
import { problems } from './problems.ts'

export const cancelOperation = endpoint({
  id: 'cancelOperation',
  method: 'POST',
  path: '/v1/operations/{id}/cancel',
  summary: 'Cancel an operation',
  description:
    'Cancels a queued operation immediately. If the operation is running, Stead first rolls back its completed steps.',
  access: { account: 'own' },
  params: Type.Object({ id: OperationId }),
  response: OperationSchema,
  problems: [
    problems.operation_not_cancelable,
    problems.operation_must_end,
    problems.operation_not_yours,
    authenticationProblems.forbidden,
  ],

  async handle(context, { params }) {
    const { tx, caller, now, definitions } = context
    const found = await changeableOperation(tx, caller, definitions, params.id)
    if (definitions.get(found.type)?.mustEnd) throw new Problem(problems.operation_must_end, { type: found.type })
    const outcome = await requestCancel(tx, found.id, now, definitions)
    if (outcome === 'too_late') throw new Problem(problems.operation_not_cancelable, { state: found.state })
    await context.record({
      action: actions['operation.canceled'],
      message: `Canceled ${found.type} (operation ${found.id})`,
      about: { accountId: found.accountId ?? caller.accountId, siteId: found.siteId },
    })
    return presentOperation((await findOperation(tx, found.id)) as OperationView)
  },
})
