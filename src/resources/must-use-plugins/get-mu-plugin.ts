import Type from 'typebox'
import { notFound } from '../../platform/http/problem.ts'
import { endpoint } from '../kit/endpoint.ts'
import { findMuPlugin } from './mu-plugin.store.ts'
import { MuPluginId, MuPluginSchema, presentMuPlugin } from './mu-plugin.ts'

export const getMuPlugin = endpoint({
  id: 'getMuPlugin',
  method: 'GET',
  path: '/v1/mu-plugins/{id}',
  summary: 'Get a must-use plugin',
  access: { account: 'own' },
  params: Type.Object({ id: MuPluginId }),
  response: MuPluginSchema,
  etag: true,

  async handle({ tx, caller }, { params }) {
    const plugin = await findMuPlugin(tx, caller.accountId, params.id)
    if (!plugin) throw notFound()
    return presentMuPlugin(plugin)
  },
})
