import { endpoint } from '../../kit/endpoint.ts'
import { actions } from '../actions.ts'
import { problems } from '../problems.ts'
import { cordonByRequest, HostName, HostStateSchema } from './cordon-by-request.ts'

export const cordonHost = endpoint({
  id: 'cordonHost',
  method: 'PUT',
  path: '/v1/installation/hosts/{name}/cordon',
  summary: 'Keep new sites off a host',
  description:
    'An addition of Stead. Its sites stay and run. New sites, and sites that are recovered, go to other hosts. Without another host, sites cannot be created.',
  access: { account: 'operator' },
  params: HostName,
  response: HostStateSchema,
  problems: [problems.host_lost],

  async handle(context, { params: { name } }) {
    const host = await cordonByRequest(context, name, true)
    if (host.isChange) await context.record({ action: actions['host.cordoned'], message: `Cordoned the host ${name}` })
    return { name, state: host.state }
  },
})
