import Type from 'typebox'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { arrangeNewTags } from './arrange.ts'
import { CollaboratorSites, EmailParam, presentCollaboratorSites, siteInView } from './collaborator-view.ts'
import { problems } from './problems.ts'
import { TagNames } from './tag.ts'

export const addCollaboratorTags = endpoint({
  id: 'addCollaboratorTags',
  method: 'POST',
  path: '/v1/collaborators/{email_address}/sites/{site_id}/tag',
  summary: "Add tags to a site, as a collaborator's, by e-mail address",
  access: { account: 'own' },
  params: Type.Object({ email_address: EmailParam, site_id: SiteId }),
  body: TagNames,
  response: CollaboratorSites,
  problems: [problems.tag_limit_reached],

  async handle(context, { params, body }) {
    const { account, site } = await siteInView(context.tx, context.caller, params.email_address, params.site_id)
    return presentCollaboratorSites(account, [await arrangeNewTags(context, account.id, site, body.tag_names)], context)
  },
})
