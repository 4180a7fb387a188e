import Type from 'typebox'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { CdnStatus, switchCdn } from './edge-cache.ts'

export const disableCdn = endpoint({
  id: 'disableCdn',
  method: 'DELETE',
  path: '/v1/sites/{id}/cdn',
  summary: 'Turn off the CDN',
  access: { site: 'manage performance' },
  params: Type.Object({ id: SiteId }),
  response: CdnStatus,

  async handle(context) {
    return switchCdn(context, false)
  },
})
