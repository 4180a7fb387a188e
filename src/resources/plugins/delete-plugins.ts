import Type from 'typebox'
import { Nothing } from '../../platform/http/schemas.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { requireInstalled, problems as siteProblems } from '../sites/public.ts'
import { actions } from './actions.ts'
import { deletePluginsJob } from './change-plugins.job.ts'
import { checkSlugs } from './check-paths.ts'
import { installedOn } from './installed-plugins.ts'
import { PluginPaths, pluginNames } from './plugin.ts'
import { problems } from './problems.ts'

export const deletePlugins = endpoint({
  id: 'deletePlugins',
  method: 'DELETE',
  path: '/v1/sites/{id}/plugins',
  summary: 'Delete plugins',
  description:
    'Checks that each plugin is installed, then starts an operation that deactivates and uninstalls the plugins. The `results` of the operation contain the outcome for each plugin. Stead keeps the previous files and database for 7 days, so you can undo the deletion with `POST /v1/operations/{id}/undo`.',
  access: { site: 'manage plugins' },
  params: Type.Object({ id: SiteId }),
  body: PluginPaths,
  response: Nothing,
  starts: true,
  problems: [
    problems.plugins_refused,
    siteProblems.site_not_live,
    siteProblems.site_cannot,
    siteProblems.site_unavailable,
  ],

  prepare: (context, { body }) => checkSlugs(body.plugins, installedOn(context)),

  async handle(context) {
    const { site, prepared: plugins } = context
    requireInstalled(site)
    await context.start(deletePluginsJob, { siteId: site.id, plugins })
    await context.record({
      action: actions['plugin.deletion_ordered'],
      message: `Requested the deletion of ${pluginNames(plugins)}`,
    })
    return null
  },
})
