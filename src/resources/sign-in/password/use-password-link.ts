import Type from 'typebox'
import { problems as authenticationProblems } from '../../authentication/public.ts'
import { endpoint } from '../../kit/endpoint.ts'
import { actions } from '../actions.ts'
import { setPassword } from '../credentials.store.ts'
import { changeOfPerson, newSession, SignedIn } from '../person.ts'
import { problems } from '../problems.ts'
import { checkNewPassword } from './check-password.ts'
import { countUse, LinkToken, openLink, useLink } from './link.ts'

export const usePasswordLink = endpoint({
  id: 'usePasswordLink',
  method: 'POST',
  path: '/v1/password-links/use',
  summary: 'Set a password with a link and sign in',
  description:
    'Accepts a link from the first start, an invitation, or a mail about a lost password. Ends all sessions of the account and starts a new one. If you use an authenticator app, also send its `code`.',
  access: 'public',
  rate: 'address',
  body: Type.Object({
    token: LinkToken,
    password: Type.String({ maxLength: 1000, examples: ['correct horse battery'] }),
    code: Type.Optional(Type.String({ maxLength: 40, examples: ['123456'] })),
  }),
  response: SignedIn,
  problems: [
    authenticationProblems.cross_site,
    problems.link_spent,
    problems.weak_password,
    problems.code_needed,
    problems.account_suspended,
    problems.wrong_code,
    problems.too_many_guesses,
    problems.too_many_sign_ins,
  ],

  async prepare(context, { body }) {
    const link = await openLink(context, body.token)
    checkNewPassword(body.password, link.email)
    await countUse(context, link)
    return { link, passwordHash: await context.passwords.hash(body.password, context.request.ipAddress) }
  },

  async handle(context, { body }) {
    const { tx, now, prepared } = context
    const { link, passwordHash } = prepared
    await useLink(context, link, body.code)
    await setPassword(tx, link.accountId, passwordHash, now)
    const message = 'Set the password with a link and ended all other sessions'
    await changeOfPerson(context, link).record({ action: actions['password.set'], message })
    return newSession(context, link)
  },
})
