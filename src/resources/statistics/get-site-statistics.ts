import Type from 'typebox'
import { recordView } from '../activity/public.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { actions } from './actions.ts'
import { siteStatistics } from './statistics.store.ts'
import { StatisticsPageViews, statisticsPageViews } from './windows.ts'

export const getSiteStatistics = endpoint({
  id: 'getSiteStatistics',
  method: 'GET',
  path: '/v1/sites/{site_id}/statistics',
  summary: 'Get page views and storage usage of a site',
  description:
    "Stead updates current periods (today, this month, …) every five minutes, and past periods and disk usage every night. Days and months are in UTC. The site's activity log records each reader at most once an hour.",
  access: { site: 'read the site' },
  params: Type.Object({ site_id: SiteId }),
  response: Type.Object(
    {
      id: Type.Integer({ description: 'Id of the site' }),
      databaseUsageBytes: Type.Integer({ examples: [1458176] }),
      fileSystemUsageBytes: Type.Integer({
        description: "Size of the site's own files, without the shared files of WordPress",
        examples: [52428800],
      }),
      pageViews: StatisticsPageViews,
    },
    { title: 'SiteStatistics' },
  ),
  etag: true,

  async handle(context) {
    const { tx, site } = context
    await recordView(context, { site, action: actions['report.page_views'], message: 'Read the page views' })
    await recordView(context, { site, action: actions['report.space_usage'], message: 'Read the disk use' })
    const { sums, databaseBytes, fileBytes } = await siteStatistics(tx, site.id)
    return {
      id: site.id,
      databaseUsageBytes: databaseBytes,
      fileSystemUsageBytes: fileBytes,
      pageViews: statisticsPageViews(sums),
    }
  },
})
