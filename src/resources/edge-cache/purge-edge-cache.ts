import Type from 'typebox'
import { Nothing } from '../../platform/http/schemas.ts'
import { recordActivity } from '../activity/record.ts'
import { operation } from '../operation.ts'
import { SiteId } from '../sites/site.ts'
import { recordEvent } from '../webhooks/record-event.ts'
import { purgeCaches } from './edge-cache.ts'

export const purgeEdgeCache = operation({
  id: 'purgeEdgeCache',
  method: 'DELETE',
  path: '/v1/sites/{id}/edge-cache',
  tag: 'Caches',
  summary: 'Purge the edge cache',
  description:
    'No page from before is served any more: on all edges within milliseconds as a rule, within a second at most.',
  access: { site: 'manage performance' },
  params: Type.Object({ id: SiteId }),
  response: Nothing,

  async handle(context) {
    const { tx, site, now } = context
    const subject = { accountId: site.accountId, siteId: site.id, now }
    await recordActivity(tx, context, { action: 'edge_cache.purged', message: 'Purged the edge cache', ...subject })
    await recordEvent(tx, { type: 'purged_edge_cache', data: {}, ...subject })
    await purgeCaches(tx, site.id, { pages: 'all' })
    return null
  },
})
