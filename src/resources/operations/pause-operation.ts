import Type from 'typebox'
import { Problem } from '../../platform/http/problem.ts'
import { setPaused } from '../../platform/operations/pause.ts'
import { findOperation, type OperationView } from '../../platform/operations/read.ts'
import { problems as authenticationProblems } from '../authentication/public.ts'
import { endpoint } from '../kit/endpoint.ts'
import { actions } from './actions.ts'
import { changeableOperation } from './change-operation.ts'
import { OperationId, OperationSchema, presentOperation } from './operation.ts'
import { problems } from './problems.ts'

export const pauseOperation = endpoint({
  id: 'pauseOperation',
  method: 'POST',
  path: '/v1/operations/{id}/pause',
  summary: 'Pause an operation',
  description:
    'An addition of Stead. Pauses an operation that moves many sites: a drain, a rebalance, or the replacement of a host. Moves that run finish, and no other one begins until you continue the operation.',
  access: { account: 'own' },
  params: Type.Object({ id: OperationId }),
  response: OperationSchema,
  problems: [problems.operation_not_pausable, problems.operation_not_yours, authenticationProblems.forbidden],

  async handle(context, { params }) {
    const { tx, caller, now, definitions } = context
    const found = await changeableOperation(tx, caller, definitions, params.id)
    const { id, type, state, isCancelable } = found
    if (!definitions.get(type)?.pausable || !isCancelable)
      throw new Problem(problems.operation_not_pausable, { type, state })
    if (await setPaused(tx, id, now))
      await context.record({
        action: actions['operation.paused'],
        message: `Paused ${type} (operation ${id})`,
        about: { accountId: found.accountId ?? caller.accountId, siteId: found.siteId },
      })
    return presentOperation((await findOperation(tx, id)) as OperationView)
  },
})
