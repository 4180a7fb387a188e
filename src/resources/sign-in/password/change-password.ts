import Type from 'typebox'
import { Problem } from '../../../platform/http/problem.ts'
import { Nothing } from '../../../platform/http/schemas.ts'
import { endpoint } from '../../kit/endpoint.ts'
import { closeSessions } from '../../sessions/public.ts'
import { actions } from '../actions.ts'
import { replacePassword } from '../credentials.store.ts'
import { verifyPassword } from '../passkeys/verify-guess.ts'
import { problems } from '../problems.ts'
import { checkNewPassword } from './check-password.ts'
import { LONGEST_PASSWORD } from './user-password.ts'

export const changePassword = endpoint({
  id: 'changePassword',
  method: 'PUT',
  path: '/v1/password',
  summary: 'Change your control panel password',
  description:
    'Ends all other sessions of the account. If you forgot your password, request a link with `POST /v1/password-links`.',
  access: { account: 'own', scope: 'owner' },
  body: Type.Object({
    current_password: Type.String({ minLength: 1, maxLength: LONGEST_PASSWORD, examples: ['correct horse battery'] }),
    password: Type.String({ maxLength: 1000, examples: ['staple under the lamp'] }),
  }),
  response: Nothing,
  problems: [problems.wrong_password, problems.weak_password, problems.too_many_guesses, problems.too_many_sign_ins],

  async prepare(context, { body }) {
    const { caller, passwords, request } = context
    checkNewPassword(body.password, caller.accountEmail)
    const who = { id: caller.accountId, email: caller.accountEmail }
    const { passwordHash: from } = await verifyPassword(context, who, body.current_password)
    return { from, to: await passwords.hash(body.password, request.ipAddress) }
  },

  async handle(context) {
    const { tx, caller, now, prepared } = context
    // Of two simultaneous changes the first one counts, because the other does not know the new password.
    if (!(await replacePassword(tx, caller.accountId, { ...prepared, now })))
      throw new Problem(problems.wrong_password, {})
    await closeSessions(tx, caller.accountId, now, caller.session?.id)
    const message = 'Changed the password and ended all other sessions'
    await context.record({ action: actions['password.set'], message })
    return null
  },
})
