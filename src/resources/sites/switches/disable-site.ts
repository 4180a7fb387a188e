import Type from 'typebox'
import { Problem } from '../../../platform/http/problem.ts'
import { endpoint } from '../../kit/endpoint.ts'
import { SiteId } from '../../kit/site-id.ts'
import { actions, events } from '../actions.ts'
import { problems } from '../problems.ts'
import { presentSite, SiteSchema } from '../show/present-site.ts'
import { changeSite } from '../site.store.ts'

export const disableSite = endpoint({
  id: 'disableSite',
  method: 'PUT',
  path: '/v1/sites/{id}/disable',
  summary: 'Disable a site',
  description: 'Visitors get 480 Temporarily Unavailable on every path. The site still counts toward the plan.',
  access: { site: 'disable the site' },
  params: Type.Object({ id: SiteId }),
  response: SiteSchema,
  problems: [problems.site_not_live],

  async handle(context) {
    const { tx, site, config, now } = context
    if (site.state !== 'live') throw new Problem(problems.site_not_live, { state: site.state })
    await changeSite(tx, site.id, { state: 'disabled' }, now)
    const event = { type: events.site_disabled, data: {} }
    await context.record({ action: actions['site.disabled'], message: 'Disabled the site', event })
    return presentSite({ ...site, state: 'disabled' }, config, now)
  },
})
