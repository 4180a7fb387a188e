import { endpoint } from '../../kit/endpoint.ts'
import { problems } from '../problems.ts'
import { creationOptions, PasskeyCreationOptions } from './passkey.ts'

export const beginPasskey = endpoint({
  id: 'beginPasskey',
  method: 'POST',
  path: '/v1/passkeys/options',
  summary: 'Start adding a passkey',
  description:
    "Returns the options for `PublicKeyCredential.parseCreationOptionsFromJSON`. Send the browser's answer to `POST /v1/passkeys` within five minutes. Until then, nothing changes.",
  access: { account: 'session' },
  proof: true,
  reads: true,
  response: PasskeyCreationOptions,
  problems: [problems.passkey_needs_name, problems.passkey_limit_reached],

  handle: async (context) =>
    creationOptions(context, { accountId: context.caller.accountId, email: context.caller.accountEmail }),
})
