import Type from 'typebox'
import { endpoint } from '../../kit/endpoint.ts'
import { passkeysOfAccount } from './passkey.store.ts'
import { PasskeySchema, presentPasskey } from './passkey.ts'

export const listPasskeys = endpoint({
  id: 'listPasskeys',
  method: 'GET',
  path: '/v1/passkeys',
  summary: 'List the passkeys of your account',
  description: 'Returns at most 20 passkeys, oldest first.',
  access: { account: 'own', scope: 'owner' },
  response: Type.Array(PasskeySchema),

  handle: async ({ tx, caller }) => (await passkeysOfAccount(tx, caller.accountId)).map(presentPasskey),
})
