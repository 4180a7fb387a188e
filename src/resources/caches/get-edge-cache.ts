import Type from 'typebox'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { EdgeCacheStatus } from './edge-cache.ts'

export const getEdgeCache = endpoint({
  id: 'getEdgeCache',
  method: 'GET',
  path: '/v1/sites/{id}/edge-cache',
  summary: 'Get the state of the edge cache',
  access: { site: 'read the site' },
  params: Type.Object({ id: SiteId }),
  response: EdgeCacheStatus,
  etag: true,

  async handle({ site, now }) {
    const until = site.defensiveUntil ?? 0
    const active = until > now
    return {
      active: site.hasEdgeCache,
      defensive_mode: { active, active_until: active ? Math.floor(until / 1000) : null },
    }
  },
})
