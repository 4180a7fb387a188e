import Type from 'typebox'
import { problems as authenticationProblems } from '../authentication/public.ts'
import { endpoint } from '../kit/endpoint.ts'
import { actions } from './actions.ts'
import { verifyCode, verifyPassword } from './passkeys/verify-guess.ts'
import { LONGEST_PASSWORD } from './password/user-password.ts'
import { changeOfPerson, newSession, requireFromHere, SignedIn } from './person.ts'
import { problems } from './problems.ts'

export const signIn = endpoint({
  id: 'signIn',
  method: 'POST',
  path: '/v1/session',
  summary: 'Sign in to the control panel',
  description:
    'Starts a session and sets its cookie. On pages of this address, a session has the same rights as a token with the scope `owner`. Programs use `POST /auth/token` instead. ' +
    'If you use an authenticator app, also send its `code` or a recovery code. Stead limits the rate of wrong attempts.',
  access: 'public',
  rate: 'address',
  body: Type.Object({
    email: Type.String({ maxLength: 254, examples: ['owner@example.com'] }),
    password: Type.String({ minLength: 1, maxLength: LONGEST_PASSWORD, examples: ['correct horse battery'] }),
    code: Type.Optional(Type.String({ maxLength: 40, examples: ['123456'] })),
  }),
  response: SignedIn,
  problems: [
    authenticationProblems.cross_site,
    problems.wrong_password,
    problems.account_suspended,
    problems.code_needed,
    problems.wrong_code,
    problems.too_many_guesses,
    problems.too_many_sign_ins,
  ],

  async prepare(context, { body }) {
    requireFromHere(context)
    return verifyPassword(context, { email: body.email }, body.password)
  },

  async handle(context, { body }) {
    const { prepared: credentials } = context
    await verifyCode(context, credentials, body.code)
    await changeOfPerson(context, credentials).record({
      action: actions['session.started'],
      message: 'Signed in to the control panel',
    })
    return newSession(context, credentials)
  },
})
