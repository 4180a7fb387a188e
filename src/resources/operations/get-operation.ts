import Type from 'typebox'
import { notFound } from '../../platform/http/problem.ts'
import { findOperation } from '../../platform/operations/read.ts'
import { resultsOfOperation } from '../../platform/operations/results.ts'
import { endpoint } from '../kit/endpoint.ts'
import { OperationId, OperationSchema, presentOperation, visibleTo } from './operation.ts'
import { actionsOf } from './operation-actions.ts'

export const getOperation = endpoint({
  id: 'getOperation',
  method: 'GET',
  path: '/v1/operations/{id}',
  summary: 'Get an operation',
  access: { account: 'own' },
  params: Type.Object({ id: OperationId }),
  response: OperationSchema,
  etag: true,

  async handle(context, { params }) {
    const { tx, caller } = context
    const found = await findOperation(tx, params.id, visibleTo(caller.accountId))
    if (!found) throw notFound()
    const actions = (await actionsOf(context, [found])).get(found.id)
    return presentOperation(found, { results: await resultsOfOperation(tx, found.id), actions })
  },
})
