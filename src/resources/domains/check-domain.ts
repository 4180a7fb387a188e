import Type from 'typebox'
import { notFound } from '../../platform/http/problem.ts'
import { Nothing } from '../../platform/http/schemas.ts'
import { domainsOfSite } from '../dns/public.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { actions } from './actions.ts'
import { expectCheck } from './check.store.ts'
import { checkDomain } from './check-domains.job.ts'
import { DomainId, domainWith } from './domain.ts'

export const lookAgain = endpoint({
  id: 'checkDomain',
  method: 'POST',
  path: '/v1/sites/{site_id}/domains/{id}/check',
  summary: 'Check a domain now',
  description:
    'An addition of Stead. Starts an operation that checks `healthy`, `dnsConfirmed` and `provisioned` again.',
  access: { site: 'manage DNS' },
  params: Type.Object({ site_id: SiteId, id: DomainId }),
  response: Nothing,
  starts: true,

  async handle(context, { params }) {
    const { tx, site, now } = context
    const domain = domainWith(await domainsOfSite(tx, site.id), params.id)
    if (!domain) throw notFound()
    const { hostName } = domain
    await expectCheck(tx, site.id, hostName, now + 60_000)
    await context.start(checkDomain, { siteId: site.id, hostName }, { about: { accountId: site.accountId } })
    await context.record({ action: actions['domain.checked'], message: `Requested a check of the domain ${hostName}` })
    return null
  },
})
