import Type from 'typebox'
import { problems as authenticationProblems } from '../../authentication/public.ts'
import { endpoint } from '../../kit/endpoint.ts'
import { requireFromHere } from '../person.ts'
import { problems } from '../problems.ts'
import { requestOptions } from './passkey.ts'

export const beginPasskeySignIn = endpoint({
  id: 'beginPasskeySignIn',
  method: 'POST',
  path: '/v1/session/passkey/options',
  summary: 'Start signing in or confirming your identity with a passkey',
  description:
    "Returns the options for `PublicKeyCredential.parseRequestOptionsFromJSON`. You can send the browser's answer once, within five minutes.",
  access: 'public',
  rate: 'address',
  reads: true,
  response: Type.Unsafe<object>({
    title: 'PasskeyRequestOptions',
    type: 'object',
    additionalProperties: true,
    description: 'PublicKeyCredentialRequestOptionsJSON of WebAuthn',
  }),
  problems: [authenticationProblems.cross_site, problems.passkey_needs_name],

  async handle(context) {
    requireFromHere(context)
    return requestOptions(context)
  },
})
