import { endpoint } from '../../kit/endpoint.ts'
import { actions } from '../actions.ts'
import { problems } from '../problems.ts'
import { markRemoved } from './change-host.ts'
import { HostName, HostStateSchema } from './cordon-by-request.ts'

export const removeHost = endpoint({
  id: 'removeHost',
  method: 'DELETE',
  path: '/v1/installation/hosts/{name}',
  summary: 'Remove an empty host from all lists',
  description: 'An addition of Stead. The host must be stopped, or lost, and have no sites. Its disk is not touched.',
  access: { account: 'operator' },
  params: HostName,
  response: HostStateSchema,
  problems: [problems.host_running, problems.host_has_sites],

  async handle(context, { params: { name } }) {
    const { tx, now } = context
    const { state } = await markRemoved(tx, name, now)
    await context.record({ action: actions['host.removed'], message: `Removed the host ${name}` })
    return { name, state }
  },
})
