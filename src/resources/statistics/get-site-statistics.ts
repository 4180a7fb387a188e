import Type from 'typebox'
import { recordView } from '../activity/record-view.ts'
import { endpoint } from '../endpoint.ts'
import { SiteId } from '../site-id.ts'
import { actions } from './actions.ts'
import { siteStatistics } from './statistics.store.ts'
import { StatisticsPageViews, statisticsPageViews } from './windows.ts'

export const getSiteStatistics = endpoint({
  id: 'getSiteStatistics',
  method: 'GET',
  path: '/v1/sites/{site_id}/statistics',
  summary: 'Read page views and storage use of a site',
  description:
    'Windows that are still open (today, this month, …) are at most five minutes old; the others, and what is used of the disk, are refreshed once a night. The log of the site says who read them, at most once an hour for each person. Days and months are those of UTC.',
  access: { site: 'read the site' },
  params: Type.Object({ site_id: SiteId }),
  response: Type.Object(
    {
      id: Type.Integer({ description: 'The site' }),
      databaseUsageBytes: Type.Integer({ examples: [1458176] }),
      fileSystemUsageBytes: Type.Integer({
        description: "The site's own files; WordPress itself is shared",
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
