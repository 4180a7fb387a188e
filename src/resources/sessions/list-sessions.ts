import Type from 'typebox'
import { endpoint } from '../kit/endpoint.ts'
import { sessionsOfAccount } from './session.store.ts'
import { presentSession, SessionSchema } from './session.ts'

export const listSessions = endpoint({
  id: 'listSessions',
  method: 'GET',
  path: '/v1/sessions',
  summary: 'List the sessions of your account',
  description: 'Returns up to 50 open sessions of the control panel, most recently used first.',
  access: { account: 'own', scope: 'owner' },
  response: Type.Array(SessionSchema),

  async handle({ tx, caller, now }) {
    const sessions = await sessionsOfAccount(tx, caller.accountId, now)
    return sessions.map((session) => presentSession(session, caller.session?.id))
  },
})
