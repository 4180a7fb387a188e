import Type from 'typebox'
import { notFound } from '../../../platform/http/problem.ts'
import { endpoint } from '../../kit/endpoint.ts'
import { findBatch, sitesOfBatch } from './batch.store.ts'
import { BatchSchema, presentBatch } from './batch.ts'

export const getSafeUpdateBatch = endpoint({
  id: 'getSafeUpdateBatch',
  method: 'GET',
  path: '/v1/safe-updates/{id}',
  summary: 'Get a safe update of many sites',
  description: 'An addition of Stead. Returns the state of each site, and why sites were skipped, undone, or failed.',
  access: { account: 'own' },
  params: Type.Object({ id: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, examples: [1] }) }),
  response: BatchSchema,
  etag: true,

  async handle({ tx, caller: { accountId } }, { params: { id } }) {
    const batch = await findBatch(tx, accountId, id)
    if (!batch) throw notFound()
    return presentBatch(batch, await sitesOfBatch(tx, accountId, id))
  },
})
