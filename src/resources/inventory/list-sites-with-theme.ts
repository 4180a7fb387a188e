import Type from 'typebox'
import { endpoint } from '../kit/endpoint.ts'
import { replySitesWith, SiteWithExtension, SlugParam, sitesQuery } from './inventory.ts'

export const listSitesWithTheme = endpoint({
  id: 'listSitesWithTheme',
  method: 'GET',
  path: '/v1/themes/{slug}/sites',
  summary: 'List the sites that have a theme',
  description: 'Returns one page of the sites that you can see and that have the theme, in order of name.',
  access: { account: 'own' },
  params: SlugParam,
  query: sitesQuery,
  response: Type.Array(SiteWithExtension),
  paged: true,

  handle: (context, { params: { slug }, query }) => replySitesWith(context, { kind: 'theme', slug }, query),
})
