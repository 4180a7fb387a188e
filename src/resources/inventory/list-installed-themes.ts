import Type from 'typebox'
import { endpoint } from '../kit/endpoint.ts'
import { InstalledExtension, inventoryQuery, replyInventory } from './inventory.ts'

export const listInstalledThemes = endpoint({
  id: 'listInstalledThemes',
  method: 'GET',
  path: '/v1/themes',
  summary: 'List the themes of all sites',
  description:
    'Returns one page of the themes that are installed on the sites that you can see, with the number of sites that have each version. The themes of the most sites come first. The parent of an active theme counts as active. Stead updates the list when it changes a site, within a minute when a user changes it in WordPress, and once a day.',
  access: { account: 'own' },
  query: inventoryQuery,
  response: Type.Array(InstalledExtension),
  paged: true,

  handle: (context, { query }) => replyInventory(context, 'theme', query),
})
