import Type from 'typebox'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { CdnStatus, Switch, switchCdn } from './edge-cache.ts'

export const toggleCdn = endpoint({
  id: 'toggleCdn',
  method: 'PUT',
  path: '/v1/sites/{site_id}/cdn',
  summary: 'Turn the CDN on or off',
  description: 'Toggles the state, or sets it to `enabled` if the body contains that field.',
  access: { site: 'manage performance' },
  params: Type.Object({ site_id: SiteId }),
  body: Switch,
  response: CdnStatus,

  async handle(context, { body }) {
    return switchCdn(context, body.enabled)
  },
})
