import Type from 'typebox'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { problems as siteProblems } from '../sites/public.ts'
import { installedPlugins } from './installed-plugins.ts'
import { PluginSchema, presentPlugin } from './plugin.ts'

export const listPlugins = endpoint({
  id: 'listPlugins',
  method: 'GET',
  path: '/v1/sites/{id}/plugins',
  summary: 'List the plugins of a site',
  description:
    'Returns the current plugins in WordPress, including must-use plugins and drop-ins. This also works if a plugin has broken the site. Update information comes from the last check of ' +
    'WordPress, which checks twice a day.',
  access: { site: 'read the site' },
  params: Type.Object({ id: SiteId }),
  response: Type.Array(PluginSchema),
  problems: [siteProblems.site_not_live, siteProblems.site_cannot, siteProblems.site_unavailable],

  handle: async (context) => (await installedPlugins(context)).map(presentPlugin),
})
