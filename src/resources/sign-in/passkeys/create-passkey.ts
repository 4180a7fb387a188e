import Type from 'typebox'
import { endpoint } from '../../kit/endpoint.ts'
import { actions } from '../actions.ts'
import { problems } from '../problems.ts'
import { addPasskey } from './add-passkey.ts'
import { NewCredential, PasskeyName, PasskeySchema, presentPasskey, verifyNewPasskey } from './passkey.ts'

export const createPasskey = endpoint({
  id: 'createPasskey',
  method: 'POST',
  path: '/v1/passkeys',
  summary: 'Add a passkey',
  description:
    'You can then sign in with the passkey instead of a password and code: the device asks for a fingerprint, a face or a PIN. A passkey works only on the host name where it was created.',
  access: { account: 'session' },
  proof: true,
  body: Type.Object({
    name: PasskeyName,
    credential: NewCredential,
  }),
  response: PasskeySchema,
  problems: [problems.passkey_needs_name, problems.passkey_not_taken, problems.passkey_limit_reached],

  prepare: (context, { body }) => verifyNewPasskey(context, context.caller.accountId, body.credential),

  async handle(context, { body }) {
    const { name, credential } = body
    const passkey = await addPasskey(context, {
      ...{ accountId: context.caller.accountId, name, verified: context.prepared },
      transports: credential.response.transports ?? [],
    })
    await context.record({ action: actions['passkey.added'], message: `Added the passkey ${name}` })
    return presentPasskey(passkey)
  },
})
