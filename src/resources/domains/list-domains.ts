import Type from 'typebox'
import { domainsOfSite } from '../dns/public.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { checksOfSite } from './check.store.ts'
import { domainsOf, includeReason, ListedDomain, presentListedDomain, separateRecords } from './domain.ts'

export const listDomains = endpoint({
  id: 'listDomains',
  method: 'GET',
  path: '/v1/sites/{site_id}/domains',
  summary: 'List the domains of a site',
  description: 'Returns the domains ordered by id. Their health is about ten minutes old at most.',
  access: { site: 'read the site' },
  params: Type.Object({ site_id: SiteId }),
  query: Type.Object({ ...separateRecords, ...includeReason }),
  response: Type.Array(ListedDomain),

  async handle({ tx, site }, { query }) {
    const checks = await checksOfSite(tx, site.id)
    const domains = domainsOf(await domainsOfSite(tx, site.id), query.separate_records)
    return domains.map((domain) => presentListedDomain(domain, checks.get(domain.hostName), query.include))
  },
})
