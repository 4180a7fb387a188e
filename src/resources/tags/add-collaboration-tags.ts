import Type from 'typebox'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { presentSiteWithAddresses, SiteWithAddresses } from '../sites/public.ts'
import { arrangeNewTags } from './arrange.ts'
import { siteOfCollaboration } from './collaborator-view.ts'
import { problems } from './problems.ts'
import { TagNames } from './tag.ts'

export const addCollaborationTags = endpoint({
  id: 'addCollaborationTags',
  method: 'POST',
  path: '/v1/collaborators/{collaborator_id}/site/tags',
  summary: "Add tags to a site, as a collaborator's",
  description: 'Only for the collaborator and the owner of the site.',
  access: { account: 'own' },
  params: Type.Object({ collaborator_id: SiteId }),
  body: TagNames,
  response: SiteWithAddresses,
  problems: [problems.tag_limit_reached],

  async handle(context, { params, body }) {
    const { account, site } = await siteOfCollaboration(context.tx, context.caller, params.collaborator_id)
    return presentSiteWithAddresses(
      await arrangeNewTags(context, account.id, site, body.tag_names),
      context.config,
      context.now,
    )
  },
})
