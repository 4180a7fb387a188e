import Type from 'typebox'
import { endpoint } from '../endpoint.ts'
import { listCollaborators as list } from './collaborator.store.ts'
import { CollaboratorWithRoles, presentWithRoles } from './collaborator.ts'

export const listCollaborators = endpoint({
  id: 'listCollaborators',
  method: 'GET',
  path: '/v1/collaborators',
  summary: 'List collaborators',
  description: "All collaborators on the caller's sites and the caller's own collaborations, in order of id.",
  access: { account: 'own' },
  response: Type.Array(CollaboratorWithRoles),

  handle: async ({ tx, caller }) => (await list(tx, caller.accountId)).map(presentWithRoles),
})
