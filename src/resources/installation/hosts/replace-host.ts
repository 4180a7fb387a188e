import Type from 'typebox'
import { Problem } from '../../../platform/http/problem.ts'
import { endpoint } from '../../kit/endpoint.ts'
import { haveStorageInCommon } from '../../kit/shared-storage.ts'
import { actions } from '../actions.ts'
import { problems } from '../problems.ts'
import { cordonByRequest, HostName, HostStateSchema } from './cordon-by-request.ts'
import { checkTimes, moveOptions } from './drain-times.ts'
import { findHostNamed, openDrains } from './host-changes.store.ts'
import { replaceHostJob } from './replace-host.job.ts'

const Replacement = Type.Object(
  {
    to: Type.String({
      description: 'Name of the host that gets the sites',
      minLength: 1,
      maxLength: 100,
      examples: ['host-2'],
    }),
    ...moveOptions,
  },
  { title: 'Replacement' },
)

export const replaceHost = endpoint({
  id: 'replaceHost',
  method: 'PUT',
  path: '/v1/installation/hosts/{name}/replace',
  summary: 'Move all sites to another host and remove this one',
  description:
    'An addition of Stead. Cordons the host, and moves its sites and those in its trash to the host `to`, like a drain. Then it removes the copies that moves leave for a day, and removes the host: its certificate and its login for PostgreSQL no longer work. If anything is left on the host, the operation in `Operation-Id` fails with the reason, and the host stays cordoned. The process of the host ends when it is removed. Its disk is not touched. To stop early, cancel the operation or uncordon the host: moves that have begun finish.',
  access: { account: 'operator' },
  params: HostName,
  body: Replacement,
  response: HostStateSchema,
  starts: true,
  problems: [
    problems.host_lost,
    problems.storage_not_shared,
    problems.replacement_unfit,
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
    const other = await findHostNamed(tx, to)
    if (other?.state !== 'active' || !other.isHeard || to === name)
      throw new Problem(problems.replacement_unfit, { host: to })
    const { state } = await cordonByRequest(context, name, true)
    // The host is held, so that of two requests one sees the other.
    const open = (await openDrains(tx)).get(name)
    if (open?.type === replaceHostJob.name && open.to === to) {
      context.started.push(open.id)
      return { name, state }
    }
    if (open) throw new Problem(problems.host_draining, { host: name, operation: open.id })
    await context.start(replaceHostJob, { host: name, ...order, ...(atOnce !== undefined && { atOnce }) })
    await context.record({
      action: actions['host.replace_requested'],
      message: `Requested to replace the host ${name} with ${to}`,
    })
    return { name, state }
  },
})
