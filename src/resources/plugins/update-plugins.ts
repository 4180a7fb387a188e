import Type from 'typebox'
import { Nothing } from '../../platform/http/schemas.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { requireInstalled, problems as siteProblems } from '../sites/public.ts'
import { actions } from './actions.ts'
import { updatePluginsJob } from './change-plugins.job.ts'
import { findReleases } from './check-paths.ts'
import { installedOn } from './installed-plugins.ts'
import { PluginReleases, pluginNames } from './plugin.ts'
import { problems } from './problems.ts'

export const updatePlugins = endpoint({
  id: 'updatePlugins',
  method: 'PUT',
  path: '/v1/sites/{id}/plugins',
  summary: 'Update plugins',
  description:
    'Checks that each plugin is installed, then starts an operation that updates the plugins one by one. You can choose a version, even an older one. The default is the latest version in the plugin directory. The `results` of the operation contain the outcome for each plugin. If an update breaks the site, Stead rolls it back. You can undo the update for 7 days.',
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
    requireInstalled(site)
    await context.start(updatePluginsJob, { siteId: site.id, plugins })
    await context.record({
      action: actions['plugin.update_ordered'],
      message: `Requested the update of ${pluginNames(plugins)}`,
    })
    return null
  },
})
