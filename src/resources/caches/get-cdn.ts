import Type from 'typebox'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { CdnStatus } from './edge-cache.ts'

export const getCdn = endpoint({
  id: 'getCdn',
  method: 'GET',
  path: '/v1/sites/{id}/cdn',
  summary: 'Get the state of the CDN',
  access: { site: 'read the site' },
  params: Type.Object({ id: SiteId }),
  response: CdnStatus,
  etag: true,

  async handle({ site }) {
    return { cdnEnabled: site.hasCdn }
  },
})
