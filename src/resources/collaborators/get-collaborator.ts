import Type from 'typebox'
import { notFound } from '../../platform/http/problem.ts'
import { endpoint } from '../kit/endpoint.ts'
import { findCollaborator } from './collaborator.store.ts'
import { CollaboratorId, CollaboratorWithRoles, presentWithRoles } from './collaborator.ts'

export const getCollaborator = endpoint({
  id: 'getCollaborator',
  method: 'GET',
  path: '/v1/collaborators/{id}',
  summary: 'Get a collaborator',
  description: 'Returns a collaborator on one of your sites, or one of your own collaborations.',
  access: { account: 'own' },
  params: Type.Object({ id: CollaboratorId }),
  response: CollaboratorWithRoles,
  etag: true,

  async handle({ tx, caller }, { params }) {
    const found = await findCollaborator(tx, caller.accountId, params.id)
    if (!found) throw notFound()
    return presentWithRoles(found)
  },
})
