import { Nothing } from '../../platform/http/schemas.ts'
import { endpoint } from '../endpoint.ts'
import { actions } from './actions.ts'
import { removeTotp } from './credentials.store.ts'

export const disableTotp = endpoint({
  id: 'disableTotp',
  method: 'DELETE',
  path: '/v1/totp',
  summary: 'Switch off codes of an authenticator app',
  description: 'The password alone is enough from now on. Recovery codes are forgotten.',
  access: { account: 'own', scope: 'owner' },
  proof: true,
  response: Nothing,

  async handle(context) {
    await removeTotp(context.tx, context.caller.accountId)
    await context.record({ action: actions['totp.disabled'], message: 'Switched the authenticator app off' })
    return null
  },
})
