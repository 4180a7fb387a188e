import Type from 'typebox'
import { notFound } from '../../platform/http/problem.ts'
import { endpoint } from '../endpoint.ts'
import { findCollaborator } from './collaborator.store.ts'
import { CollaboratorId, CollaboratorWithRoles, presentWithRoles } from './collaborator.ts'

export const getCollaborator = endpoint({
  id: 'getCollaborator',
  method: 'GET',
  path: '/v1/collaborators/{id}',
  summary: 'Read a collaborator',
  description: "A collaborator on one of the caller's sites, or a collaboration of the caller's own.",
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
