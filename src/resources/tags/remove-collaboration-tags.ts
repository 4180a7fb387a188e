import Type from 'typebox'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { presentSiteWithAddresses, SiteWithAddresses } from '../sites/public.ts'
import { arrangeFewerTags } from './arrange.ts'
import { siteOfCollaboration } from './collaborator-view.ts'
import { TagIdsIfAny } from './tag.ts'

export const removeCollaborationTags = endpoint({
  id: 'removeCollaborationTags',
  method: 'DELETE',
  path: '/v1/collaborators/{collaborator_id}/site/tags',
  summary: "Remove tags from a site, as a collaborator's",
  description: 'Only for the collaborator and the owner of the site.',
  access: { account: 'own' },
  params: Type.Object({ collaborator_id: SiteId }),
  body: TagIdsIfAny,
  response: SiteWithAddresses,

  async handle(context, { params, body }) {
    const { account, site } = await siteOfCollaboration(context.tx, context.caller, params.collaborator_id)
    return presentSiteWithAddresses(
      await arrangeFewerTags(context, account.id, site, body.tag_ids ?? []),
      context.config,
      context.now,
    )
  },
})
