import type { Static } from 'typebox'
import type { Config } from '../../../config.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { timestamp } from '../../../platform/http/schemas.ts'
import { gravatar } from '../../account/public.ts'
import { detailPageViews, readSums } from '../../statistics/public.ts'
import { presentLicense } from '../create/site-license.ts'
import { presentSite, type SiteDetail } from './present-site.ts'
import { collaboratorsInDetail, type VisibleSite } from './visible-site.store.ts'

/** Returns the site as its own endpoint shows it. */
export async function presentSiteDetail(
  tx: Tx,
  site: VisibleSite,
  config: Config,
  now: number,
): Promise<Static<typeof SiteDetail>> {
  const common = presentSite(site, config, now)
  const collaborators = site.collaboratorsCount > 0 ? await collaboratorsInDetail(tx, site.id) : []
  return {
    ...common,
    pageViews: detailPageViews(readSums(site.pageViews)),
    cmsLoginUrl: `${common.url}/wp-admin`,
    collaborators: collaborators.map((each) => ({
      id: each.id,
      created: timestamp(each.created_at),
      email: each.email,
      gravatar: gravatar(each.email),
      name: each.name,
      wpUsername: each.wp_username,
      username: each.sftp_username,
    })),
    ext: site.license && presentLicense(site.license),
  }
}
