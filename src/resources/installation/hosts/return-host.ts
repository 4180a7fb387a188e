import { endpoint } from '../../kit/endpoint.ts'
import { actions } from '../actions.ts'
import { problems } from '../problems.ts'
import { markReturned } from './change-host.ts'
import { HostName, HostStateSchema } from './cordon-by-request.ts'

export const returnHost = endpoint({
  id: 'returnHost',
  method: 'PUT',
  path: '/v1/installation/hosts/{name}/return',
  summary: 'Let a lost host run again',
  description:
    'An addition of Stead. Start the host afterwards. It serves the sites that stayed on it, and quarantines the directories of sites that are elsewhere now.',
  access: { account: 'operator' },
  params: HostName,
  response: HostStateSchema,
  problems: [problems.host_not_lost],

  async handle(context, { params: { name } }) {
    const { tx, now } = context
    const { state } = await markReturned(tx, name, now)
    await context.record({ action: actions['host.returned'], message: `Let the lost host ${name} run again` })
    return { name, state }
  },
})
