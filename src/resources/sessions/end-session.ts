import Type from 'typebox'
import { notFound } from '../../platform/http/problem.ts'
import { Nothing } from '../../platform/http/schemas.ts'
import { endpoint } from '../kit/endpoint.ts'
import { actions } from './actions.ts'
import { closeSession } from './session.store.ts'

export const endSession = endpoint({
  id: 'endSession',
  method: 'DELETE',
  path: '/v1/sessions/{id}',
  summary: 'End a session of your account',
  description: 'Signs out the browser that holds the session immediately. Use this for a lost or stolen device.',
  access: { account: 'own', scope: 'owner' },
  params: Type.Object({ id: Type.Integer({ minimum: 1 }) }),
  response: Nothing,

  async handle(context, { params }) {
    const { tx, caller, now } = context
    if (!(await closeSession(tx, caller.accountId, params.id, now))) throw notFound()
    await context.record({ action: actions['session.ended'], message: `Ended the session ${params.id}` })
    return null
  },
})
