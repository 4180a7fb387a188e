import Type from 'typebox'
import { notFound, Problem } from '../../../platform/http/problem.ts'
import { endpoint } from '../../kit/endpoint.ts'
import { actions } from '../actions.ts'
import { problems } from '../problems.ts'
import { markLost } from './change-host.ts'
import { HostName, HostStateSchema } from './cordon-by-request.ts'
import { findHostNamed } from './host-changes.store.ts'

const Loss = Type.Object(
  { confirm: Type.String({ description: 'The name of the host once more', maxLength: 100, examples: ['host-1'] }) },
  { title: 'HostLoss' },
)

export const loseHost = endpoint({
  id: 'loseHost',
  method: 'PUT',
  path: '/v1/installation/hosts/{name}/lost',
  summary: 'Declare a host lost',
  description:
    'An addition of Stead. Recovers the sites of a dead host on other hosts, from their newest backups, the most visited first. Changes since these backups are lost. Stead refuses this while the host reports. The host cannot run again until it is returned.',
  access: { account: 'operator' },
  params: HostName,
  body: Loss,
  response: HostStateSchema,
  problems: [problems.host_name_differs, problems.host_alone, problems.host_running],

  async handle(context, { params: { name }, body: { confirm } }) {
    const { tx, now } = context
    if (!(await findHostNamed(tx, name))) throw notFound()
    if (confirm !== name) throw new Problem(problems.host_name_differs, { host: name })
    const { state } = await markLost(tx, name, now)
    await context.record({ action: actions['host.lost'], message: `Declared the host ${name} lost` })
    return { name, state }
  },
})
