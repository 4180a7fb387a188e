import Type from 'typebox'
import { reply } from '../../platform/http/endpoint.ts'
import { besidesOf, pageOf, pageQuery } from '../../platform/http/schemas.ts'
import { endpoint } from '../kit/endpoint.ts'
import { countMuPlugins, muPluginsOfAccount } from './mu-plugin.store.ts'
import { MuPluginSchema, presentMuPlugin } from './mu-plugin.ts'

export const listMuPlugins = endpoint({
  id: 'listMuPlugins',
  method: 'GET',
  path: '/v1/mu-plugins',
  summary: 'List the must-use plugins of your account',
  description: 'Returns one page of plugins, ordered by id.',
  access: { account: 'own' },
  query: Type.Object(pageQuery),
  response: Type.Array(MuPluginSchema),
  paged: true,

  async handle({ tx, caller }, { query }) {
    const asked = pageOf(query)
    const plugins = await muPluginsOfAccount(tx, caller.accountId, asked)
    return reply(
      plugins.map(presentMuPlugin),
      await besidesOf(asked, plugins, () => countMuPlugins(tx, caller.accountId)),
    )
  },
})
