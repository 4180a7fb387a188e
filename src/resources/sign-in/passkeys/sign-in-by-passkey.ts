import Type from 'typebox'
import { Problem } from '../../../platform/http/problem.ts'
import { problems as authenticationProblems } from '../../authentication/public.ts'
import { endpoint } from '../../kit/endpoint.ts'
import { actions } from '../actions.ts'
import { findCredentials } from '../credentials.store.ts'
import { changeOfPerson, newSession, requireFromHere, SignedIn } from '../person.ts'
import { problems } from '../problems.ts'
import { takePasskey, UsedCredential, verifyPasskey } from './passkey.ts'

export const signInByPasskey = endpoint({
  id: 'signInByPasskey',
  method: 'POST',
  path: '/v1/session/passkey',
  summary: 'Sign in to the control panel with a passkey',
  description:
    "Works like `POST /v1/session`. Send the browser's answer to the options from `POST /v1/session/passkey/options`. You need no code, because the device has asked for a fingerprint, a face or a PIN.",
  access: 'public',
  rate: 'address',
  body: Type.Object({ credential: UsedCredential }),
  response: SignedIn,
  problems: [
    authenticationProblems.cross_site,
    problems.passkey_needs_name,
    problems.wrong_passkey,
    problems.account_suspended,
  ],

  async prepare(context, { body }) {
    requireFromHere(context)
    return verifyPasskey(context, body.credential)
  },

  async handle(context) {
    const { tx, prepared } = context
    await takePasskey(context, prepared)
    const credentials = await findCredentials(tx, { id: prepared.passkey.accountId })
    if (!credentials) throw new Problem(problems.wrong_passkey, {})
    await changeOfPerson(context, credentials).record({
      action: actions['session.started'],
      message: `Signed in to the control panel with the passkey ${prepared.passkey.name}`,
    })
    return newSession(context, credentials)
  },
})
