import { notFound } from '../../platform/http/problem.ts'
import { Nothing } from '../../platform/http/schemas.ts'
import { aboutSite } from '../kit/change.ts'
import { endpoint } from '../kit/endpoint.ts'
import { actions, events } from './actions.ts'
import { deleteLink } from './environment.store.ts'
import { EnvironmentPath } from './environment.ts'
import { linkedEnvironment } from './linked-environment.ts'

export const unlinkEnvironment = endpoint({
  id: 'unlinkEnvironment',
  method: 'DELETE',
  path: '/v1/sites/{site_id}/environments/{environment_id}',
  summary: 'Unlink an environment',
  description:
    'An addition of Stead. Ends the link between a live site and its environment. Both sites stay as they are, and no site is deleted. A sync that was requested before still runs.',
  access: { site: 'clone the site' },
  params: EnvironmentPath,
  response: Nothing,

  async handle(context, { params }) {
    const { tx, site: live } = context
    const found = await linkedEnvironment(context, params.environment_id)
    if (!found) throw notFound()
    const { environment } = found
    await deleteLink(tx, environment.id)
    const event = { type: events.environment_unlinked, data: { live_site_id: live.id, environment_id: environment.id } }
    await context.record({
      action: actions['environment.unlinked'],
      message: `Unlinked the environment ${environment.name}`,
      event,
    })
    await context.record({
      action: actions['environment.unlinked'],
      message: `Is no longer an environment of ${live.name}`,
      about: aboutSite(environment),
    })
    return null
  },
})
