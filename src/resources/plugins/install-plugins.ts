import Type from 'typebox'
import { Nothing } from '../../platform/http/schemas.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { requireInstalled, problems as siteProblems } from '../sites/public.ts'
import { actions } from './actions.ts'
import { installPluginsJob } from './change-plugins.job.ts'
import { findReleases } from './check-paths.ts'
import { PluginReleases, pluginNames } from './plugin.ts'
import { problems } from './problems.ts'

export const installPlugins = endpoint({
  id: 'installPlugins',
  method: 'POST',
  path: '/v1/sites/{id}/plugins',
  summary: 'Install and activate plugins',
  description:
    'Finds the package of each plugin, then starts an operation that installs the plugins one by one with the upgrader of WordPress. The `results` of the operation contain the outcome for each plugin. If a plugin breaks the site, Stead rolls it back and reports the PHP error. Stead keeps the previous files and database for 7 days, so you can undo the installation with `POST /v1/operations/{id}/undo`.',
  access: { site: 'manage plugins' },
  params: Type.Object({ id: SiteId }),
  body: PluginReleases,
  response: Nothing,
  starts: true,
  problems: [problems.plugins_refused, problems.plugin_directory_unavailable, siteProblems.site_not_live],

  prepare: (context, { body }) => findReleases(context, body.plugins, { allowsUrls: true }),

  async handle(context) {
    const { site, prepared: plugins } = context
    requireInstalled(site)
    await context.start(installPluginsJob, { siteId: site.id, plugins })
    await context.record({
      action: actions['plugin.install_ordered'],
      message: `Requested the installation of ${pluginNames(plugins)}`,
    })
    return null
  },
})
