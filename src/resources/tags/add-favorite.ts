import Type from 'typebox'
import { Nothing } from '../../platform/http/schemas.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { arrangeFavorite } from './arrange.ts'

export const addFavorite = endpoint({
  id: 'addFavorite',
  method: 'POST',
  path: '/v1/sites/{id}/favorites',
  summary: 'Add a site to your favourites',
  description: 'Favourites apply to your account only, and come first in your lists of sites.',
  access: { site: 'read the site' },
  params: Type.Object({ id: SiteId }),
  response: Nothing,

  async handle(context) {
    await arrangeFavorite(context, context.caller.accountId, context.site, true)
    return null
  },
})
