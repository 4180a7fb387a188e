import Type from 'typebox'
import { Problem } from '../../../platform/http/problem.ts'
import { problems as accountProblems } from '../../account/public.ts'
import { endpoint } from '../../kit/endpoint.ts'
import { SiteId } from '../../kit/site-id.ts'
import { actions, events } from '../actions.ts'
import { countAgainstPlan } from '../create/count-against-plan.ts'
import { creationFacts } from '../create/creation.store.ts'
import { problems } from '../problems.ts'
import { SiteDetail } from '../show/present-site.ts'
import { presentSiteDetail } from '../show/present-site-detail.ts'
import { changeSite } from '../site.store.ts'

export const convertSite = endpoint({
  id: 'convertSite',
  method: 'PUT',
  path: '/v1/sites/{id}/convert',
  summary: 'Convert a site between live and staging',
  description:
    'Changes `staging`, and with it the plan limit that the site counts against. The content, caches and environment type do not change. Remove all domains of a site before you convert it into a staging site.',
  access: { site: 'convert the site' },
  params: Type.Object({ id: SiteId }),
  response: SiteDetail,
  problems: [
    problems.site_not_live,
    problems.domains_left,
    problems.site_limit_reached,
    accountProblems.account_leaving,
  ],

  async handle(context) {
    const { tx, site, config, now } = context
    if (site.state !== 'live') throw new Problem(problems.site_not_live, { state: site.state })
    if (!site.isStaging && site.domainsCount > 0) throw new Problem(problems.domains_left, { count: site.domainsCount })
    const isStaging = !site.isStaging
    const { account } = await creationFacts(tx, site.accountId)
    await changeSite(tx, site.id, { isStaging }, now)
    const kind = isStaging ? 'staging' : 'live'
    const event = { type: events.site_converted, data: { staging: isStaging } }
    await context.record({
      action: actions['site.converted'],
      message: `Converted the site into a ${kind} site`,
      event,
    })
    await countAgainstPlan(tx, account, isStaging)
    return presentSiteDetail(tx, { ...site, isStaging }, config, now)
  },
})
