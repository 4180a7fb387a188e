import Type from 'typebox'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { arrangeFewerTags } from './arrange.ts'
import { CollaboratorSites, EmailParam, presentCollaboratorSites, siteInView } from './collaborator-view.ts'
import { TagIds } from './tag.ts'

export const removeCollaboratorTags = endpoint({
  id: 'removeCollaboratorTags',
  method: 'DELETE',
  path: '/v1/collaborators/{email_address}/sites/{site_id}/tag',
  summary: "Remove tags from a site, as a collaborator's, by e-mail address",
  access: { account: 'own' },
  params: Type.Object({ email_address: EmailParam, site_id: SiteId }),
  body: TagIds,
  response: CollaboratorSites,

  async handle(context, { params, body }) {
    const { account, site } = await siteInView(context.tx, context.caller, params.email_address, params.site_id)
    return presentCollaboratorSites(account, [await arrangeFewerTags(context, account.id, site, body.tag_ids)], context)
  },
})
