import Type from 'typebox'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { arrangeFavorite } from './arrange.ts'
import { CollaboratorSites, EmailParam, presentCollaboratorSites, siteInView } from './collaborator-view.ts'

export const addCollaboratorFavorite = endpoint({
  id: 'addCollaboratorFavorite',
  method: 'POST',
  path: '/v1/collaborators/{email_address}/sites/{site_id}/favorite',
  summary: "Add a site to a collaborator's favourites",
  access: { account: 'own' },
  params: Type.Object({ email_address: EmailParam, site_id: SiteId }),
  response: CollaboratorSites,

  async handle(context, { params }) {
    const { account, site } = await siteInView(context.tx, context.caller, params.email_address, params.site_id)
    const arranged = await arrangeFavorite(context, account.id, site, true)
    return presentCollaboratorSites(account, [arranged], context)
  },
})
