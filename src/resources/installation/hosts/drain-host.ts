import Type from 'typebox'
import { Problem } from '../../../platform/http/problem.ts'
import { endpoint } from '../../kit/endpoint.ts'
import { haveStorageInCommon } from '../../kit/shared-storage.ts'
import { actions } from '../actions.ts'
import { problems } from '../problems.ts'
import { cordonByRequest, HostName, HostStateSchema } from './cordon-by-request.ts'
import { drainHostJob } from './drain-host.job.ts'
import { checkTimes, moveOptions } from './drain-times.ts'
import { findHostNamed, openDrains } from './host-changes.store.ts'

const Drain = Type.Object(
  {
    to: Type.Optional(
      Type.String({
        description: 'Name of the only host that gets the sites. Default: all that take sites',
        minLength: 1,
        maxLength: 100,
        examples: ['host-2'],
      }),
    ),
    ...moveOptions,
  },
  { title: 'Drain' },
)

export const drainHost = endpoint({
  id: 'drainHost',
  method: 'PUT',
  path: '/v1/installation/hosts/{name}/drain',
  summary: 'Move all sites off a host',
  description:
    'An addition of Stead. Cordons the host, and moves its sites to other hosts, the least visited first, two at a time. A site that cannot move stays, and the operation in `Operation-Id` says why. The host stays cordoned. A request while it drains follows the same operation. To stop early, cancel the operation or uncordon the host: moves that have begun finish. Deleted sites in the trash move last. If some stay, the operation says why and until when. The host cannot be removed before that.',
  access: { account: 'operator' },
  params: HostName,
  body: Drain,
  response: HostStateSchema,
  starts: true,
  problems: [
    problems.host_lost,
    problems.storage_not_shared,
    problems.host_unknown,
    problems.host_draining,
    problems.drain_window,
    problems.drain_deadline,
  ],

  async handle(context, { params: { name }, body }) {
    const { tx, config } = context
    const { at_once: atOnce, ...order } = body
    const { to } = order
    checkTimes(order, context.now)
    if (!haveStorageInCommon(config)) throw new Problem(problems.storage_not_shared, {})
    if (to !== undefined && (await findHostNamed(tx, to)) === undefined)
      throw new Problem(problems.host_unknown, { host: to })
    const { state } = await cordonByRequest(context, name, true)
    // The host is held, so that of two requests one sees the other.
    const open = (await openDrains(tx)).get(name)
    if (open?.type === drainHostJob.name) {
      context.started.push(open.id)
      return { name, state }
    }
    if (open) throw new Problem(problems.host_draining, { host: name, operation: open.id })
    await context.start(drainHostJob, { host: name, ...order, ...(atOnce !== undefined && { atOnce }) })
    await context.record({
      action: actions['host.drain_requested'],
      message: `Requested to move all sites off the host ${name}`,
    })
    return { name, state }
  },
})
