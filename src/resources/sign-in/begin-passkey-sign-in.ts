import Type from 'typebox'
import { problems as authenticationProblems } from '../authentication/problems.ts'
import { endpoint } from '../endpoint.ts'
import { requestOptions } from './passkey.ts'
import { demandFromHere } from './person.ts'
import { problems } from './problems.ts'

export const beginPasskeySignIn = endpoint({
  id: 'beginPasskeySignIn',
  method: 'POST',
  path: '/v1/session/passkey/options',
  summary: 'Begin to sign in, or to show who you are, with a passkey',
  description:
    'What a page gives to `PublicKeyCredential.parseRequestOptionsFromJSON`. The answer of the browser counts for five minutes, once.',
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
    demandFromHere(context)
    return requestOptions(context)
  },
})
