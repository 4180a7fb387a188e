import { Nothing } from '../../../platform/http/schemas.ts'
import { endpoint } from '../../kit/endpoint.ts'
import { actions } from '../actions.ts'
import { removeTotp } from '../credentials.store.ts'

export const disableTotp = endpoint({
  id: 'disableTotp',
  method: 'DELETE',
  path: '/v1/totp',
  summary: 'Turn off sign-in with an authenticator app',
  description: 'From now on, you sign in with your password only. Stead deletes the recovery codes.',
  access: { account: 'own', scope: 'owner' },
  proof: true,
  response: Nothing,

  async handle(context) {
    await removeTotp(context.tx, context.caller.accountId)
    await context.record({ action: actions['totp.disabled'], message: 'Turned off sign-in with an authenticator app' })
    return null
  },
})
