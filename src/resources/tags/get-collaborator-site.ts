import Type from 'typebox'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { CollaboratorSites, EmailParam, presentCollaboratorSites, siteInView } from './collaborator-view.ts'

export const getCollaboratorSite = endpoint({
  id: 'getCollaboratorSite',
  method: 'GET',
  path: '/v1/collaborators/{email_address}/sites/{site_id}',
  summary: "Get one of a collaborator's sites",
  access: { account: 'own' },
  params: Type.Object({ email_address: EmailParam, site_id: SiteId }),
  response: CollaboratorSites,
  etag: true,

  async handle(context, { params }) {
    const { account, site } = await siteInView(context.tx, context.caller, params.email_address, params.site_id)
    return presentCollaboratorSites(account, [site], context)
  },
})
