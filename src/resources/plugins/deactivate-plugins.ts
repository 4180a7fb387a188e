import Type from 'typebox'
import { Nothing } from '../../platform/http/schemas.ts'
import { endpoint } from '../endpoint.ts'
import { SiteId } from '../site-id.ts'
import { problems as siteProblems } from '../sites/problems.ts'
import { demandInstalled } from '../sites/site.ts'
import { actions } from './actions.ts'
import { deactivatePluginsJob } from './change-plugins.job.ts'
import { checkSlugs } from './check-paths.ts'
import { namesOf, PluginPaths } from './plugin.ts'
import { problems } from './problems.ts'

export const deactivatePlugins = endpoint({
  id: 'deactivatePlugins',
  method: 'PUT',
  path: '/v1/sites/{id}/plugins/deactivate',
  summary: 'Deactivate plugins',
  description:
    'In an operation, whose `results` tell what became of each. One without which the site does not answer is activated again.',
  access: { site: 'manage plugins' },
  params: Type.Object({ id: SiteId }),
  body: PluginPaths,
  response: Nothing,
  starts: true,
  problems: [problems.plugins_refused, siteProblems.site_not_live],

  async handle(context, { body }) {
    const { site } = context
    demandInstalled(site)
    const plugins = checkSlugs(body.plugins)
    await context.start(deactivatePluginsJob, { siteId: site.id, plugins })
    await context.record({
      action: actions['plugin.deactivation_ordered'],
      message: `Ordered to deactivate ${namesOf(plugins)}`,
    })
    return null
  },
})
