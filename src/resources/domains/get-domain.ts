import Type from 'typebox'
import { notFound } from '../../platform/http/problem.ts'
import { domainsOfSite } from '../dns/public.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { checksOfSite } from './check.store.ts'
import { DomainId, DomainSchema, domainWith, presentDomain } from './domain.ts'

export const getDomain = endpoint({
  id: 'getDomain',
  method: 'GET',
  path: '/v1/sites/{site_id}/domains/{id}',
  summary: 'Get a domain of a site',
  access: { site: 'read the site' },
  params: Type.Object({ site_id: SiteId, id: DomainId }),
  response: DomainSchema,
  etag: true,

  async handle({ tx, site }, { params }) {
    const domain = domainWith(await domainsOfSite(tx, site.id), params.id)
    if (!domain) throw notFound()
    return presentDomain(domain, (await checksOfSite(tx, site.id)).get(domain.hostName))
  },
})
