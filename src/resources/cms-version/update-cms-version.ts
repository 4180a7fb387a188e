import Type from 'typebox'
import { reply } from '../../platform/http/endpoint.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { changeSite, presentSite, requireInstalled, SiteSchema, problems as siteProblems } from '../sites/public.ts'
import { actions } from './actions.ts'
import { problems } from './problems.ts'
import { type Looked, releasesNow, seenAt, updateTarget } from './releases.ts'
import { updateCmsVersionJob } from './update-cms-version.job.ts'

export const updateCmsVersion = endpoint({
  id: 'updateCmsVersion',
  method: 'PUT',
  path: '/v1/sites/{site_id}/cms/version',
  summary: 'Update WordPress',
  description:
    'Updates to the latest stable release with `latest`. Without a version, switches between the latest stable release and the beta, if one exists. Returns the current site and starts an operation: ' +
    'Stead closes the site for a moment, upgrades its database, and opens it when its homepage responds. If it does not respond, Stead rolls back, and the operation contains the PHP error. ' +
    'If the site already has the version, nothing changes. Stead checks for the latest releases first. If that fails, it uses the last known releases, and `message` says so.',
  access: { site: 'change the CMS version' },
  params: Type.Object({ site_id: SiteId }),
  body: Type.Object(
    {
      version: Type.Optional(
        Type.Literal('latest', {
          examples: ['latest'],
          description: 'Default: switch between stable and beta',
        }),
      ),
    },
    { title: 'CmsVersion' },
  ),
  response: SiteSchema,
  starts: true,
  problems: [problems.no_beta_offered, problems.php_too_old, problems.releases_unknown, siteProblems.site_not_live],

  async prepare(context) {
    requireInstalled(context.site)
    return releasesNow(context)
  },

  async handle(context, { body }) {
    const { tx, site, config, now, prepared: looked } = context
    requireInstalled(site)
    const { version, channel } = updateTarget(looked.releases, site, body.version)
    if (version === site.coreVersion) {
      if (channel !== site.coreChannel) await changeSite(tx, site.id, { coreChannel: channel }, now)
      return told(presentSite({ ...site, coreChannel: channel }, config, now), looked)
    }
    await context.start(updateCmsVersionJob, { siteId: site.id, version, channel })
    await context.record({
      action: actions['wordpress.version_ordered'],
      message: `Requested WordPress ${version} instead of ${site.coreVersion}`,
    })
    return told(presentSite(site, config, now), looked)
  },
})

/** Adds a note to the response if the check failed, with the time of the known releases. */
function told(site: object, { releases, fault }: Looked): unknown {
  if (fault === undefined) return site
  const at = new Date(seenAt(releases)).toISOString().slice(0, 16).replace('T', ' ')
  return reply(site, {
    message: `Stead could not check for WordPress releases: ${fault}. It uses the releases known at ${at} UTC.`,
  })
}
