import Type from 'typebox'
import { Nothing } from '../../platform/http/schemas.ts'
import { endpoint } from '../endpoint.ts'
import { SiteId } from '../site-id.ts'
import { problems as siteProblems } from '../sites/problems.ts'
import { demandInstalled } from '../sites/site.ts'
import { actions } from './actions.ts'
import { installPluginsJob } from './change-plugins.job.ts'
import { findReleases } from './check-paths.ts'
import { namesOf, PluginReleases } from './plugin.ts'
import { problems } from './problems.ts'

export const installPlugins = endpoint({
  id: 'installPlugins',
  method: 'POST',
  path: '/v1/sites/{id}/plugins',
  summary: 'Install and activate plugins',
  description:
    'Answers when it is known where each is had from; the work goes on in an operation, whose `results` tell what became of each. It is done by the upgrader of WordPress, one plugin after the other: what breaks the site is taken back, and told in the words of PHP. Before it begins, files and database of the site are kept for 7 days: `POST /v1/operations/{id}/undo`.',
  access: { site: 'manage plugins' },
  params: Type.Object({ id: SiteId }),
  body: PluginReleases,
  response: Nothing,
  starts: true,
  problems: [problems.plugins_refused, problems.plugin_directory_unavailable, siteProblems.site_not_live],

  prepare: (context, { body }) => findReleases(context, body.plugins, { allowsUrls: true }),

  async handle(context) {
    const { site, prepared: plugins } = context
    demandInstalled(site)
    await context.start(installPluginsJob, { siteId: site.id, plugins })
    await context.record({
      action: actions['plugin.install_ordered'],
      message: `Ordered to install ${namesOf(plugins)}`,
    })
    return null
  },
})
