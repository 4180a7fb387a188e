import Type from 'typebox'
import { Nothing } from '../../platform/http/schemas.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { arrangeFavorite } from './arrange.ts'

export const removeFavorite = endpoint({
  id: 'removeFavorite',
  method: 'DELETE',
  path: '/v1/sites/{site_id}/favorites',
  summary: 'Remove a site from your favourites',
  description: 'Favourites apply to your account only, and come first in your lists of sites.',
  access: { site: 'read the site' },
  params: Type.Object({ site_id: SiteId }),
  response: Nothing,

  async handle(context) {
    await arrangeFavorite(context, context.caller.accountId, context.site, false)
    return null
  },
})
