import Type from 'typebox'
import { endpoint } from '../endpoint.ts'
import { SiteId } from '../site-id.ts'
import { EntrySchema, LogQuery, logPage } from './entry.ts'

export const listSiteActivity = endpoint({
  id: 'listSiteActivity',
  method: 'POST',
  path: '/v1/sites/{id}/logs/activity',
  summary: 'Read the activity log of a site',
  description: 'What was done to the site, newest first. Kept for 30 days.',
  access: { site: 'read the site' },
  reads: true,
  params: Type.Object({ id: SiteId }),
  body: LogQuery,
  response: Type.Array(EntrySchema),
  paged: true,

  async handle(context, { body }) {
    return logPage(context, { siteId: context.site.id }, body)
  },
})
