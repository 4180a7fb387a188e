import Type from 'typebox'
import { Problem } from '../../../platform/http/problem.ts'
import { endpoint } from '../../kit/endpoint.ts'
import { SiteId } from '../../kit/site-id.ts'
import { actions, events } from '../actions.ts'
import { problems } from '../problems.ts'
import { presentSite, SiteSchema } from '../show/present-site.ts'
import { changeSite } from '../site.store.ts'

export const enableSite = endpoint({
  id: 'enableSite',
  method: 'PUT',
  path: '/v1/sites/{id}/enable',
  summary: 'Enable a site',
  description: 'Opens a disabled site to visitors again. Only disabled sites can be enabled.',
  access: { site: 'enable the site' },
  params: Type.Object({ id: SiteId }),
  response: SiteSchema,
  problems: [problems.site_not_disabled],

  async handle(context) {
    const { tx, site, config, now } = context
    if (site.state !== 'disabled') throw new Problem(problems.site_not_disabled, { state: site.state })
    await changeSite(tx, site.id, { state: 'live' }, now)
    const event = { type: events.site_enabled, data: {} }
    await context.record({ action: actions['site.enabled'], message: 'Enabled the site', event })
    return presentSite({ ...site, state: 'live' }, config, now)
  },
})
