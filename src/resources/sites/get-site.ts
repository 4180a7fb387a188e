import Type from 'typebox'
import { timestamp } from '../../platform/http/schemas.ts'
import { gravatar } from '../account/account.ts'
import { endpoint } from '../endpoint.ts'
import { SiteId } from '../site-id.ts'
import { detailPageViews, readSums } from '../statistics/statistics.ts'
import { presentSite, SiteDetail } from './present-site.ts'
import { listSiteCollaborators } from './visible-site.store.ts'

export const getSite = endpoint({
  id: 'getSite',
  method: 'GET',
  path: '/v1/sites/{id}',
  summary: 'Read a site',
  access: { site: 'read the site' },
  params: Type.Object({ id: SiteId }),
  response: SiteDetail,
  etag: true,

  async handle({ tx, site, config, now }) {
    const common = presentSite(site, config, now)
    const collaborators = site.collaboratorsCount > 0 ? await listSiteCollaborators(tx, site.id) : []
    return {
      ...common,
      pageViews: detailPageViews(readSums(site.pageViews)),
      cmsLoginUrl: `${common.url}/wp-admin`,
      deployError: site.deployError,
      safeMode: site.isInSafeMode,
      collaborators: collaborators.map((each) => ({
        id: each.id,
        created: timestamp(each.created_at),
        email: each.email,
        gravatar: gravatar(each.email),
        name: each.name,
        wpUsername: each.wp_username,
        username: null,
      })),
      ext: null,
    }
  },
})
