import Type from 'typebox'
import { reply } from '../../platform/http/endpoint.ts'
import { endpoint } from '../endpoint.ts'
import { SiteId } from '../site-id.ts'
import { presentSite, SiteSchema } from '../sites/present-site.ts'
import { problems as siteProblems } from '../sites/problems.ts'
import { changeSite, demandInstalled } from '../sites/site.ts'
import { actions } from './actions.ts'
import { problems } from './problems.ts'
import { type Looked, releasesNow, seenAt, targetOf } from './releases.ts'
import { updateCmsVersionJob } from './update-cms-version.job.ts'

export const updateCmsVersion = endpoint({
  id: 'updateCmsVersion',
  method: 'PUT',
  path: '/v1/sites/{site_id}/cms/version',
  summary: 'Update WordPress',
  description:
    'With `latest` to the latest stable release; without a version to the other one of the latest stable release and the beta, where there is one. Answers with the site as it is; the work goes on in an operation: ' +
    'the site is closed for the moment of the change, its database is upgraded, and it is opened when its front page answers. When it does not, everything is as it was before, and the operation says why in the words of PHP. ' +
    'A site that has the release already is left alone. Stead looks which releases there are now; when it cannot, it uses what it knew last, and `message` says so.',
  access: { site: 'change the CMS version' },
  params: Type.Object({ site_id: SiteId }),
  body: Type.Object(
    {
      version: Type.Optional(
        Type.Literal('latest', {
          examples: ['latest'],
          description: 'Absent: stable or beta, whichever the site has not',
        }),
      ),
    },
    { title: 'CmsVersion' },
  ),
  response: SiteSchema,
  starts: true,
  problems: [problems.no_beta_offered, problems.php_too_old, problems.releases_unknown, siteProblems.site_not_live],

  async prepare(context) {
    demandInstalled(context.site)
    return releasesNow(context)
  },

  async handle(context, { body }) {
    const { tx, site, config, now, prepared: looked } = context
    demandInstalled(site)
    const { version, channel } = targetOf(looked.releases, site, body.version)
    if (version === site.coreVersion) {
      if (channel !== site.coreChannel) await changeSite(tx, site.id, { coreChannel: channel }, now)
      return told(presentSite({ ...site, coreChannel: channel }, config, now), looked)
    }
    await context.start(updateCmsVersionJob, { siteId: site.id, version, channel })
    await context.record({
      action: actions['wordpress.version_ordered'],
      message: `Ordered WordPress ${version} in place of ${site.coreVersion}`,
    })
    return told(presentSite(site, config, now), looked)
  },
})

/** Says when nobody could look, and how old what is known is. */
function told(site: object, { releases, fault }: Looked): unknown {
  if (fault === undefined) return site
  const at = new Date(seenAt(releases)).toISOString().slice(0, 16).replace('T', ' ')
  return reply(site, {
    message: `Stead could not look which releases of WordPress there are now: ${fault}. It uses what it knew at ${at} UTC.`,
  })
}
