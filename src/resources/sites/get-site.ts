import Type from 'typebox'
import { endpoint } from '../endpoint.ts'
import { SiteId } from '../site-id.ts'
import { SiteDetail } from './present-site.ts'
import { presentSiteDetail } from './present-site-detail.ts'

export const getSite = endpoint({
  id: 'getSite',
  method: 'GET',
  path: '/v1/sites/{id}',
  summary: 'Read a site',
  access: { site: 'read the site' },
  params: Type.Object({ id: SiteId }),
  response: SiteDetail,
  etag: true,

  async handle({ tx, site, config, now }) {
    return presentSiteDetail(tx, site, config, now)
  },
})
