import Type from 'typebox'
import { Nothing } from '../../platform/http/schemas.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { waitForOperation } from '../kit/wait-for-operation.ts'
import { requireInstalled, problems as siteProblems } from '../sites/public.ts'
import { actions } from './actions.ts'
import { flushObjectCacheJob } from './flush-object-cache.job.ts'

export const purgeObjectCache = endpoint({
  id: 'purgeObjectCache',
  method: 'DELETE',
  path: '/v1/sites/{site_id}/object-cache',
  summary: 'Flush the object cache',
  description: 'Waits until WordPress has flushed the cache, including the cache of a persistent drop-in.',
  access: { site: 'manage performance' },
  params: Type.Object({ site_id: SiteId }),
  response: Nothing,
  starts: true,
  problems: [siteProblems.site_not_live, siteProblems.site_cannot, siteProblems.site_unavailable],

  async handle(context) {
    const { site } = context
    requireInstalled(site)
    await context.start(flushObjectCacheJob, { siteId: site.id })
    await context.record({ action: actions['wordpress.object_cache'], message: 'Flushed the object cache' })
    return null
  },

  afterCommit: (context) => waitForOperation(context),
})
