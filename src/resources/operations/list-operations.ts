import Type from 'typebox'
import { reply } from '../../platform/http/endpoint.ts'
import { besidesOf, oneOf, pageOf, pageQuery } from '../../platform/http/schemas.ts'
import { findOperations } from '../../platform/operations/read.ts'
import { endpoint } from '../kit/endpoint.ts'
import { namesOfOperations } from './operation.store.ts'
import { OperationSchema, operationStates, presentOperation, visibleTo } from './operation.ts'
import { actionsOf } from './operation-actions.ts'

export const listOperations = endpoint({
  id: 'listOperations',
  method: 'GET',
  path: '/v1/operations',
  summary: 'List operations',
  description: 'Returns one page of background operations, newest first.',
  access: { account: 'own' },
  query: Type.Object({
    site_id: Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })),
    state: Type.Optional(oneOf(operationStates)),
    type: Type.Optional(Type.String({ maxLength: 100 })),
    ...pageQuery,
  }),
  response: Type.Array(OperationSchema),
  paged: true,

  async handle(context, { query }) {
    const { tx, caller } = context
    const asked = pageOf(query)
    const filter = { siteId: query.site_id, state: query.state, type: query.type, visible: visibleTo(caller.accountId) }
    const { operations, total } = await findOperations(tx, filter, asked)
    const actions = await actionsOf(context, operations)
    const names = await namesOfOperations(tx, caller.accountId, operations)
    return reply(
      operations.map((each) => presentOperation(each, { actions: actions.get(each.id), names: names.get(each.id) })),
      await besidesOf(asked, operations, () => total),
    )
  },
})
