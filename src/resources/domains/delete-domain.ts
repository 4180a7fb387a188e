import Type from 'typebox'
import { notFound } from '../../platform/http/problem.ts'
import { Nothing } from '../../platform/http/schemas.ts'
import { domainsOfSite, forgetEmptyZones, holdZone, removeSiteHost, type Zone } from '../dns/public.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { forgetCheck } from './check.store.ts'
import { DomainId, domainWith } from './domain.ts'

export const deleteDomain = endpoint({
  id: 'deleteDomain',
  method: 'DELETE',
  path: '/v1/sites/{site_id}/domains/{id}',
  summary: 'Remove a domain from a site',
  description:
    'Deletes all address records of the host name. The zone and its other records stay. After you remove the primary domain, the site is at its address under the staging domain again.',
  access: { site: 'manage DNS' },
  params: Type.Object({ site_id: SiteId, id: DomainId }),
  response: Nothing,
  starts: true,

  async handle(context, { params }) {
    const { tx, site } = context
    const domain = domainWith(await domainsOfSite(tx, site.id), params.id)
    if (!domain) throw notFound()
    const { hostName, records } = domain
    const [{ zoneId, name }] = records as [(typeof records)[number]]
    const zone = (await holdZone(tx, zoneId)) as Zone
    await removeSiteHost(context, { site, zone, name })
    await forgetEmptyZones(tx, zone.accountId, context.now)
    await forgetCheck(tx, { siteId: site.id, hostName, now: context.now })
    return null
  },
})
