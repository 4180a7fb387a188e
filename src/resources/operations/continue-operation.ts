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

export const continueOperation = endpoint({
  id: 'continueOperation',
  method: 'POST',
  path: '/v1/operations/{id}/continue',
  summary: 'Continue a paused operation',
  description:
    'An addition of Stead. The operation moves the sites that are left. Nothing changes if it is not paused.',
  access: { account: 'own' },
  params: Type.Object({ id: OperationId }),
  response: OperationSchema,
  problems: [problems.operation_not_pausable, problems.operation_not_yours, authenticationProblems.forbidden],

  async handle(context, { params }) {
    const { tx, caller, definitions } = context
    const found = await changeableOperation(tx, caller, definitions, params.id)
    const { id, type, state, isCancelable } = found
    if (!definitions.get(type)?.pausable || !isCancelable)
      throw new Problem(problems.operation_not_pausable, { type, state })
    if (await setPaused(tx, id, null))
      await context.record({
        action: actions['operation.continued'],
        message: `Continued ${type} (operation ${id})`,
        about: { accountId: found.accountId ?? caller.accountId, siteId: found.siteId },
      })
    return presentOperation((await findOperation(tx, id)) as OperationView)
  },
})
