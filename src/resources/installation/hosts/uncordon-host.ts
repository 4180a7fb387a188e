import { endpoint } from '../../kit/endpoint.ts'
import { actions } from '../actions.ts'
import { problems } from '../problems.ts'
import { cordonByRequest, HostName, HostStateSchema } from './cordon-by-request.ts'

export const uncordonHost = endpoint({
  id: 'uncordonHost',
  method: 'PUT',
  path: '/v1/installation/hosts/{name}/uncordon',
  summary: 'Let a host get new sites again',
  description: 'An addition of Stead. Ends `PUT /v1/installation/hosts/{name}/cordon`.',
  access: { account: 'operator' },
  params: HostName,
  response: HostStateSchema,
  problems: [problems.host_lost],

  async handle(context, { params: { name } }) {
    const host = await cordonByRequest(context, name, false)
    if (host.isChange)
      await context.record({ action: actions['host.uncordoned'], message: `Uncordoned the host ${name}` })
    return { name, state: host.state }
  },
})
