import Type from 'typebox'
import { endpoint } from '../kit/endpoint.ts'
import { replySitesWith, SiteWithExtension, SlugParam, sitesQuery } from './inventory.ts'

export const listSitesWithPlugin = endpoint({
  id: 'listSitesWithPlugin',
  method: 'GET',
  path: '/v1/plugins/{slug}/sites',
  summary: 'List the sites that have a plugin',
  description: 'Returns one page of the sites that you can see and that have the plugin, in order of name.',
  access: { account: 'own' },
  params: SlugParam,
  query: sitesQuery,
  response: Type.Array(SiteWithExtension),
  paged: true,

  handle: (context, { params: { slug }, query }) => replySitesWith(context, { kind: 'plugin', slug }, query),
})
