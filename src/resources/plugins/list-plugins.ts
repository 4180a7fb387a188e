import Type from 'typebox'
import { endpoint } from '../endpoint.ts'
import { SiteId } from '../site-id.ts'
import { problems as siteProblems } from '../sites/problems.ts'
import { installedPlugins } from './installed-plugins.ts'
import { PluginSchema, presentPlugin } from './plugin.ts'

export const listPlugins = endpoint({
  id: 'listPlugins',
  method: 'GET',
  path: '/v1/sites/{id}/plugins',
  summary: 'List the plugins of a site',
  description:
    'As WordPress has them at this moment, must-use plugins and drop-ins included; also of a site that a plugin has broken. Which updates there are is what ' +
    'WordPress has found out last, twice a day by itself.',
  access: { site: 'read the site' },
  params: Type.Object({ id: SiteId }),
  response: Type.Array(PluginSchema),
  problems: [siteProblems.site_not_live, siteProblems.site_cannot, siteProblems.site_unavailable],

  handle: async (context) => (await installedPlugins(context)).map(presentPlugin),
})
