import Type from 'typebox'
import { notFound } from '../../platform/http/problem.ts'
import { Nothing } from '../../platform/http/schemas.ts'
import { endApplication, listLiveApplications } from '../account/public.ts'
import { endpoint } from '../kit/endpoint.ts'
import { actions } from './actions.ts'

export const revokeApplication = endpoint({
  id: 'revokeApplication',
  method: 'DELETE',
  path: '/v1/applications/{id}',
  summary: 'Revoke an API application',
  description: 'All tokens of the application stop working immediately on all hosts. You cannot undo this.',
  access: { account: 'own', scope: 'owner' },
  proof: true,
  params: Type.Object({ id: Type.Integer({ minimum: 1 }) }),
  response: Nothing,

  async handle(context, { params }) {
    const { tx, caller, now } = context
    const found = (await listLiveApplications(tx, caller.accountId)).find(({ id }) => id === params.id)
    if (!found || !(await endApplication(tx, found.clientId, now))) throw notFound()
    const message = `Revoked the API application ${found.name}`
    await context.record({ action: actions['application.revoked'], message })
    return null
  },
})
