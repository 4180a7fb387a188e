import { reply } from '../../platform/http/endpoint.ts'
import { Nothing } from '../../platform/http/schemas.ts'
import { endpoint } from '../kit/endpoint.ts'
import { actions, closeSession } from '../sessions/public.ts'
import { endedCookie } from './cookie.ts'

export const signOut = endpoint({
  id: 'signOut',
  method: 'DELETE',
  path: '/v1/session',
  summary: 'Sign out of the control panel',
  description: 'Ends the session of this request immediately on all hosts.',
  access: { account: 'session' },
  response: Nothing,

  async handle(context) {
    const { tx, caller, session, origin, now } = context
    await closeSession(tx, caller.accountId, session.id, now)
    await context.record({ action: actions['session.ended'], message: 'Signed out of the control panel' })
    return reply(null, { headers: { 'set-cookie': endedCookie(origin) } })
  },
})
