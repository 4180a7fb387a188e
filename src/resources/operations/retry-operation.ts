import Type from 'typebox'
import { Problem } from '../../platform/http/problem.ts'
import { requeueOperation } from '../../platform/operations/control.ts'
import { findOperation, type OperationView } from '../../platform/operations/read.ts'
import { problems as authenticationProblems } from '../authentication/public.ts'
import { endpoint } from '../kit/endpoint.ts'
import { actions } from './actions.ts'
import { changeableOperation } from './change-operation.ts'
import { OperationId, OperationSchema, presentOperation } from './operation.ts'
import { problems } from './problems.ts'

export const retryOperation = endpoint({
  id: 'retryOperation',
  method: 'POST',
  path: '/v1/operations/{id}/retry',
  summary: 'Retry an operation',
  description:
    'Runs the remaining steps of a failed or canceled operation. From then on, Stead checks your access rights instead of those of the account that started the operation.',
  access: { account: 'own' },
  params: Type.Object({ id: OperationId }),
  response: OperationSchema,
  problems: [problems.operation_not_retryable, problems.operation_not_yours, authenticationProblems.forbidden],

  async handle(context, { params }) {
    const { tx, caller, definitions } = context
    const found = await changeableOperation(tx, caller, definitions, params.id)
    const outcome = await requeueOperation(tx, found.id, definitions, caller.accountId)
    if (outcome === 'not_ended') throw new Problem(problems.operation_not_retryable, { state: found.state })
    await context.record({
      action: actions['operation.retried'],
      message: `Retried ${found.type} (operation ${found.id})`,
      about: { accountId: found.accountId ?? caller.accountId, siteId: found.siteId },
    })
    return presentOperation((await findOperation(tx, found.id)) as OperationView)
  },
})
