import Type from 'typebox'
import { lockForUpdate } from '../../platform/db/database.ts'
import { notFound } from '../../platform/http/problem.ts'
import { endpoint } from '../kit/endpoint.ts'
import { actions } from './actions.ts'
import { updateMuPlugin } from './bring-mu-plugin.job.ts'
import { findMuPlugin } from './mu-plugin.store.ts'
import { ChangedMuPluginSchema, MuPluginId, presentChanged } from './mu-plugin.ts'
import { problems } from './problems.ts'
import { startWork } from './start-work.ts'

export const refreshMuPlugin = endpoint({
  id: 'updateMuPlugin',
  method: 'PUT',
  path: '/v1/mu-plugins/{id}',
  summary: 'Fetch a must-use plugin again',
  description:
    'Fetches the plugin from its stored URL and updates it on all its sites. If Stead cannot fetch it or PHP cannot parse it, the sites keep the current file. To change the ' +
    'URL, delete the plugin and add a new one.',
  access: { account: 'own' },
  params: Type.Object({ id: MuPluginId }),
  response: ChangedMuPluginSchema,
  starts: true,
  problems: [problems.no_host_yet],

  async handle(context, { params }) {
    const { tx, caller } = context
    await lockForUpdate(tx, 'accounts', caller.accountId)
    const plugin = await findMuPlugin(tx, caller.accountId, params.id)
    if (!plugin) throw notFound()
    await startWork(context, plugin, updateMuPlugin)
    await context.record({
      action: actions['mu_plugin.updated'],
      message: `Updated the must-use plugin ${plugin.slug}`,
    })
    return presentChanged(plugin)
  },
})
