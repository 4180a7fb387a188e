import Type from 'typebox'
import { operation } from '../operation.ts'
import { SiteId } from '../site-id.ts'
import { CdnStatus } from './edge-cache.ts'

export const getCdn = operation({
  id: 'getCdn',
  method: 'GET',
  path: '/v1/sites/{id}/cdn',
  summary: 'Tell whether the CDN is on',
  access: { site: 'read the site' },
  params: Type.Object({ id: SiteId }),
  response: CdnStatus,
  etag: true,

  async handle({ site }) {
    return { cdnEnabled: site.hasCdn }
  },
})
