import Type from 'typebox'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { CdnStatus, switchCdn } from './edge-cache.ts'

export const enableCdn = endpoint({
  id: 'enableCdn',
  method: 'POST',
  path: '/v1/sites/{id}/cdn',
  summary: 'Turn on the CDN',
  access: { site: 'manage performance' },
  params: Type.Object({ id: SiteId }),
  response: CdnStatus,

  async handle(context) {
    return switchCdn(context, true)
  },
})
