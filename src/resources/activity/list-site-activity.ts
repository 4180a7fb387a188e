import Type from 'typebox'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { ActivityQuery, activityPage, EntrySchema } from './activity-entry.ts'

export const listSiteActivity = endpoint({
  id: 'listSiteActivity',
  method: 'POST',
  path: '/v1/sites/{id}/logs/activity',
  summary: 'Get the activity log of a site',
  description: 'Returns changes to the site, newest first. Stead keeps entries for 30 days.',
  access: { site: 'read the site' },
  reads: true,
  params: Type.Object({ id: SiteId }),
  body: ActivityQuery,
  response: Type.Array(EntrySchema),
  paged: true,

  async handle(context, { body }) {
    return activityPage(context, { siteId: context.site.id }, body)
  },
})
