import Type from 'typebox'
import { notFound } from '../../platform/http/problem.ts'
import { Nothing } from '../../platform/http/schemas.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { findCollaboratorOfSite } from './collaborator.store.ts'
import { CollaboratorId } from './collaborator.ts'
import { leaveSite } from './membership.ts'

export const removeSiteCollaborator = endpoint({
  id: 'removeSiteCollaborator',
  method: 'DELETE',
  path: '/v1/sites/{site_id}/collaborators/{id}',
  summary: 'Remove a collaborator from a site',
  description:
    'With `delete_wp_user`, Stead also deletes the WordPress user in the background and gives its posts to the oldest administrator.',
  access: { site: 'remove collaborators' },
  params: Type.Object({ site_id: SiteId, id: CollaboratorId }),
  query: Type.Object({ delete_wp_user: Type.Optional(Type.Boolean({ description: 'Default: false' })) }),
  response: Nothing,
  starts: true,

  async handle(context, { params, query }) {
    const { tx, site } = context
    const member = await findCollaboratorOfSite(tx, site.id, params.id)
    if (!member) throw notFound()
    const reassign = query.delete_wp_user ? 'oldest' : 'keep'
    await leaveSite(tx, site, member, reassign, context)
    return null
  },
})
