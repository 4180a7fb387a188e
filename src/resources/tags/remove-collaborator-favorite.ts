import Type from 'typebox'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { arrangeFavorite } from './arrange.ts'
import { CollaboratorSites, EmailParam, presentCollaboratorSites, siteInView } from './collaborator-view.ts'

export const removeCollaboratorFavorite = endpoint({
  id: 'removeCollaboratorFavorite',
  method: 'DELETE',
  path: '/v1/collaborators/{email_address}/sites/{site_id}/favorite',
  summary: "Remove a site from a collaborator's favourites",
  access: { account: 'own' },
  params: Type.Object({ email_address: EmailParam, site_id: SiteId }),
  response: CollaboratorSites,

  async handle(context, { params }) {
    const { account, site } = await siteInView(context.tx, context.caller, params.email_address, params.site_id)
    const arranged = await arrangeFavorite(context, account.id, site, false)
    return presentCollaboratorSites(account, [arranged], context)
  },
})
