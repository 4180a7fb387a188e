import Type from 'typebox'
import { notFound } from '../../platform/http/problem.ts'
import { getOperation as read } from '../../platform/operations/read.ts'
import { resultsOfOperation } from '../../platform/operations/results.ts'
import { endpoint } from '../endpoint.ts'
import { OperationId, OperationSchema, presentOperation, visibleTo } from './operation.ts'

export const getOperation = endpoint({
  id: 'getOperation',
  method: 'GET',
  path: '/v1/operations/{id}',
  summary: 'Read an operation',
  access: { account: 'own' },
  params: Type.Object({ id: OperationId }),
  response: OperationSchema,
  etag: true,

  async handle({ tx, caller }, { params }) {
    const found = await read(tx, params.id, visibleTo(caller.accountId))
    if (!found) throw notFound()
    return presentOperation(found, await resultsOfOperation(tx, found.id))
  },
})
