import Type from 'typebox'
import { Nothing } from '../../platform/http/schemas.ts'
import { endpoint } from '../endpoint.ts'
import { SiteId } from '../site-id.ts'
import { problems as siteProblems } from '../sites/problems.ts'
import { demandInstalled } from '../sites/site.ts'
import { actions } from './actions.ts'
import { activatePluginsJob } from './change-plugins.job.ts'
import { checkSlugs } from './check-paths.ts'
import { namesOf, PluginPaths } from './plugin.ts'
import { problems } from './problems.ts'

export const activatePlugins = endpoint({
  id: 'activatePlugins',
  method: 'PUT',
  path: '/v1/sites/{id}/plugins/activate',
  summary: 'Activate plugins',
  description:
    'In an operation, whose `results` tell what became of each. One that breaks the site is deactivated again, and told in the words of PHP.',
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
    await context.start(activatePluginsJob, { siteId: site.id, plugins })
    await context.record({
      action: actions['plugin.activation_ordered'],
      message: `Ordered to activate ${namesOf(plugins)}`,
    })
    return null
  },
})
