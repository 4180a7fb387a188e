import Type from 'typebox'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { listCollaboratorsOfSite } from './collaborator.store.ts'
import { CollaboratorSchema, presentCollaborator } from './collaborator.ts'

export const listSiteCollaborators = endpoint({
  id: 'listSiteCollaborators',
  method: 'GET',
  path: '/v1/sites/{site_id}/collaborators',
  summary: "List a site's collaborators",
  description: 'Returns the collaborators of the site ordered by id, without the owner.',
  access: { site: 'read the site' },
  params: Type.Object({ site_id: SiteId }),
  response: Type.Array(CollaboratorSchema),

  handle: async ({ tx, site }) => (await listCollaboratorsOfSite(tx, site.id)).map(presentCollaborator),
})
