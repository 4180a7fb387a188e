import Type from 'typebox'
import { endpoint } from '../kit/endpoint.ts'
import { collaboratorsAround } from './collaborator.store.ts'
import { CollaboratorWithRoles, presentWithRoles } from './collaborator.ts'

export const listCollaborators = endpoint({
  id: 'listCollaborators',
  method: 'GET',
  path: '/v1/collaborators',
  summary: 'List collaborators',
  description: 'Returns all collaborators on your sites and all of your own collaborations, ordered by id.',
  access: { account: 'own' },
  response: Type.Array(CollaboratorWithRoles),

  handle: async ({ tx, caller }) => (await collaboratorsAround(tx, caller.accountId)).map(presentWithRoles),
})
