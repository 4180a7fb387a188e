import Type from 'typebox'
import { notFound } from '../../../platform/http/problem.ts'
import { Nothing } from '../../../platform/http/schemas.ts'
import { endpoint } from '../../kit/endpoint.ts'
import { actions } from '../actions.ts'
import { removePasskey } from './passkey.store.ts'

export const deletePasskey = endpoint({
  id: 'deletePasskey',
  method: 'DELETE',
  path: '/v1/passkeys/{id}',
  summary: 'Remove a passkey of your account',
  description:
    'The passkey can no longer be used to sign in. Sessions that it started stay open. End them with `DELETE /v1/sessions/{id}`.',
  access: { account: 'own', scope: 'owner' },
  proof: true,
  params: Type.Object({ id: Type.Integer({ minimum: 1 }) }),
  response: Nothing,

  async handle(context, { params }) {
    const name = await removePasskey(context.tx, context.caller.accountId, params.id)
    if (name === undefined) throw notFound()
    await context.record({ action: actions['passkey.removed'], message: `Removed the passkey ${name}` })
    return null
  },
})
