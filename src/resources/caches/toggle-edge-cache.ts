import Type from 'typebox'
import { Nothing } from '../../platform/http/schemas.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { Switch, switchEdgeCache } from './edge-cache.ts'

export const toggleEdgeCache = endpoint({
  id: 'toggleEdgeCache',
  method: 'PUT',
  path: '/v1/sites/{id}/edge-cache',
  summary: 'Turn the edge cache on or off',
  description:
    'Toggles the state, or sets it to `enabled` if the body contains that field. Also purges the edge cache.',
  access: { site: 'manage performance' },
  params: Type.Object({ id: SiteId }),
  body: Switch,
  response: Nothing,

  async handle(context, { body }) {
    await switchEdgeCache(context, body.enabled)
    return null
  },
})
