import Type from 'typebox'
import { lockForUpdate } from '../../platform/db/database.ts'
import { notFound } from '../../platform/http/problem.ts'
import { Nothing } from '../../platform/http/schemas.ts'
import { requestCancel } from '../../platform/operations/control.ts'
import { endpoint } from '../kit/endpoint.ts'
import { actions } from './actions.ts'
import { removeMuPlugin } from './bring-mu-plugin.job.ts'
import { changeMuPlugin, findMuPlugin } from './mu-plugin.store.ts'
import { MuPluginId } from './mu-plugin.ts'
import { problems } from './problems.ts'
import { startWork } from './start-work.ts'

export const deleteMuPlugin = endpoint({
  id: 'deleteMuPlugin',
  method: 'DELETE',
  path: '/v1/mu-plugins/{id}',
  summary: 'Delete a must-use plugin',
  description:
    'Removes the plugin from lists immediately, and from all sites in the background. If its file was changed on a site, Stead keeps the file on that ' +
    'site. The `results` of the operation name these sites.',
  access: { account: 'own' },
  params: Type.Object({ id: MuPluginId }),
  response: Nothing,
  starts: true,
  problems: [problems.no_host_yet],

  async handle(context, { params }) {
    const { tx, caller, now, definitions } = context
    await lockForUpdate(tx, 'accounts', caller.accountId)
    const plugin = await findMuPlugin(tx, caller.accountId, params.id)
    if (!plugin) throw notFound()
    await changeMuPlugin(tx, plugin.id, { deleted_at: now })
    // An operation that still installs it would be undone again.
    if (plugin.operationId !== null) await requestCancel(tx, plugin.operationId, now, definitions)
    await startWork(context, plugin, removeMuPlugin)
    await context.record({
      action: actions['mu_plugin.deleted'],
      message: `Deleted the must-use plugin ${plugin.slug}`,
    })
    return null
  },
})
