import Type from 'typebox'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { presentSiteWithAddresses, SiteWithAddresses } from '../sites/public.ts'
import { siteOfCollaboration } from './collaborator-view.ts'

export const getCollaborationSite = endpoint({
  id: 'getCollaborationSite',
  method: 'GET',
  path: '/v1/collaborators/{collaborator_id}/site',
  summary: 'Get the site of a collaborator',
  description: 'Returns the site as the collaborator sees it. Only for the collaborator and the owner of the site.',
  access: { account: 'own' },
  params: Type.Object({ collaborator_id: SiteId }),
  response: SiteWithAddresses,
  etag: true,

  async handle({ tx, caller, config, now }, { params }) {
    const { site } = await siteOfCollaboration(tx, caller, params.collaborator_id)
    return presentSiteWithAddresses(site, config, now)
  },
})
