import Type from 'typebox'
import { Nothing } from '../../platform/http/schemas.ts'
import { endpoint } from '../endpoint.ts'
import { SiteId } from '../site-id.ts'
import { problems as siteProblems } from '../sites/problems.ts'
import { demandInstalled } from '../sites/site.ts'
import { actions } from './actions.ts'
import { activatePluginsJob } from './change-plugins.job.ts'
import { checkSlugs } from './check-paths.ts'
import { installedOn } from './installed-plugins.ts'
import { namesOf, PluginPaths } from './plugin.ts'
import { problems } from './problems.ts'

export const activatePlugins = endpoint({
  id: 'activatePlugins',
  method: 'PUT',
  path: '/v1/sites/{id}/plugins/activate',
  summary: 'Activate plugins',
  description:
    'Answers when the site has said that it has each of them; the work is an operation, whose `results` tell what became of each. One that breaks the site is deactivated again, and told in the words of PHP.',
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
    demandInstalled(site)
    await context.start(activatePluginsJob, { siteId: site.id, plugins })
    await context.record({
      action: actions['plugin.activation_ordered'],
      message: `Ordered to activate ${namesOf(plugins)}`,
    })
    return null
  },
})
