import { endpoint } from '../endpoint.ts'
import { creationOptions, PasskeyCreationOptions } from './passkey.ts'
import { problems } from './problems.ts'

export const beginPasskey = endpoint({
  id: 'beginPasskey',
  method: 'POST',
  path: '/v1/passkeys/options',
  summary: 'Begin to add a passkey',
  description:
    'What a page gives to `PublicKeyCredential.parseCreationOptionsFromJSON`. Nothing changes before `POST /v1/passkeys` has what the browser made of it, within five minutes.',
  access: { account: 'session' },
  proof: true,
  reads: true,
  response: PasskeyCreationOptions,
  problems: [problems.passkey_needs_name, problems.passkey_limit_reached],

  handle: async (context) =>
    creationOptions(context, { accountId: context.caller.accountId, email: context.caller.accountEmail }),
})
