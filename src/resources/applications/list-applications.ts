import Type from 'typebox'
import { listLiveApplications } from '../account/public.ts'
import { endpoint } from '../kit/endpoint.ts'
import { ApplicationSchema, presentApplication } from './application.ts'

export const listApplications = endpoint({
  id: 'listApplications',
  method: 'GET',
  path: '/v1/applications',
  summary: 'List the API applications of your account',
  description:
    'Returns up to 100 applications, ordered by id. The list does not include revoked applications or secrets.',
  access: { account: 'own', scope: 'owner' },
  response: Type.Array(ApplicationSchema),

  handle: async ({ tx, caller }) => (await listLiveApplications(tx, caller.accountId)).map(presentApplication),
})
