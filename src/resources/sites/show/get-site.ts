import Type from 'typebox'
import { endpoint } from '../../kit/endpoint.ts'
import { SiteId } from '../../kit/site-id.ts'
import { WholeSite } from './present-site.ts'
import { presentSiteDetail } from './present-site-detail.ts'
import { includeStatus, statusesOf } from './site-status.ts'

export const getSite = endpoint({
  id: 'getSite',
  method: 'GET',
  path: '/v1/sites/{id}',
  summary: 'Get a site',
  access: { site: 'read the site' },
  params: Type.Object({ id: SiteId }),
  query: Type.Object(includeStatus),
  response: WholeSite,
  etag: true,

  async handle({ tx, site, config, now }, { query }) {
    const detail = await presentSiteDetail(tx, site, config, now)
    if (!query.include) return detail
    const [status] = await statusesOf(tx, [site])
    return { ...detail, status }
  },
})
