import Type from 'typebox'
import { Nothing } from '../../platform/http/schemas.ts'
import { endpoint } from '../endpoint.ts'
import { SiteId } from '../site-id.ts'
import { problems as siteProblems } from '../sites/problems.ts'
import { demandInstalled } from '../sites/site.ts'
import { actions } from './actions.ts'
import { updatePluginsJob } from './change-plugins.job.ts'
import { findReleases } from './check-paths.ts'
import { installedOn } from './installed-plugins.ts'
import { namesOf, PluginReleases } from './plugin.ts'
import { problems } from './problems.ts'

export const updatePlugins = endpoint({
  id: 'updatePlugins',
  method: 'PUT',
  path: '/v1/sites/{id}/plugins',
  summary: 'Update plugins',
  description:
    'Answers when the site has said that it has each of them. To the release that is named, or the latest of the plugin directory; an older one is taken as well. As an installation: one after the other, with the outcome of each in the operation, taken back where it breaks the site, and with an undo for 7 days.',
  access: { site: 'manage plugins' },
  params: Type.Object({ id: SiteId }),
  body: PluginReleases,
  response: Nothing,
  starts: true,
  problems: [
    problems.plugins_refused,
    problems.plugin_directory_unavailable,
    siteProblems.site_not_live,
    siteProblems.site_cannot,
    siteProblems.site_unavailable,
  ],

  prepare: (context, { body }) =>
    findReleases(context, body.plugins, { allowsUrls: false, isInstalled: installedOn(context) }),

  async handle(context) {
    const { site, prepared: plugins } = context
    demandInstalled(site)
    await context.start(updatePluginsJob, { siteId: site.id, plugins })
    await context.record({ action: actions['plugin.update_ordered'], message: `Ordered to update ${namesOf(plugins)}` })
    return null
  },
})
