import Type from 'typebox'
import { Nothing } from '../../platform/http/schemas.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { purgeCaches } from '../sites/public.ts'
import { actions, events } from './actions.ts'

export const purgeEdgeCache = endpoint({
  id: 'purgeEdgeCache',
  method: 'DELETE',
  path: '/v1/sites/{id}/edge-cache',
  summary: 'Purge the edge cache',
  description:
    'Stead no longer serves cached pages. The purge usually reaches all edges within milliseconds, and always within one second.',
  access: { site: 'manage performance' },
  params: Type.Object({ id: SiteId }),
  response: Nothing,

  async handle(context) {
    const { tx, site } = context
    const event = { type: events.purged_edge_cache, data: {} }
    await context.record({ action: actions['edge_cache.purged'], message: 'Purged the edge cache', event })
    await purgeCaches(tx, site.id, { pages: 'all' })
    return null
  },
})
