import Type from 'typebox'
import { notFound } from '../../platform/http/problem.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { findCollaboratorOfSite } from './collaborator.store.ts'
import { CollaboratorId, CollaboratorSchema, presentCollaborator } from './collaborator.ts'

export const getSiteCollaborator = endpoint({
  id: 'getSiteCollaborator',
  method: 'GET',
  path: '/v1/sites/{site_id}/collaborators/{id}',
  summary: 'Get a collaborator of a site',
  access: { site: 'read the site' },
  params: Type.Object({ site_id: SiteId, id: CollaboratorId }),
  response: CollaboratorSchema,
  etag: true,

  async handle({ tx, site }, { params }) {
    const found = await findCollaboratorOfSite(tx, site.id, params.id)
    if (!found) throw notFound()
    return presentCollaborator(found)
  },
})
