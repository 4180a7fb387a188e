import Type from 'typebox'
import { endpoint } from '../kit/endpoint.ts'
import { InstalledExtension, inventoryQuery, replyInventory } from './inventory.ts'

export const listInstalledPlugins = endpoint({
  id: 'listInstalledPlugins',
  method: 'GET',
  path: '/v1/plugins',
  summary: 'List the plugins of all sites',
  description:
    'Returns one page of the plugins that are installed on the sites that you can see, with the number of sites that have each version. The plugins of the most sites come first. Must-use plugins and drop-ins are not included. Stead updates the list when it changes a site, within a minute when a user changes it in WordPress, and once a day.',
  access: { account: 'own' },
  query: inventoryQuery,
  response: Type.Array(InstalledExtension),
  paged: true,

  handle: (context, { query }) => replyInventory(context, 'plugin', query),
})
