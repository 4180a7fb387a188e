import { hash } from 'node:crypto'
import Type from 'typebox'
import { Problem } from '../../platform/http/problem.ts'
import { problems as authenticationProblems } from '../authentication/problems.ts'
import { endpoint } from '../endpoint.ts'
import { endSessions } from '../sessions/session.ts'
import { actions } from './actions.ts'
import { attemptWasRight, countAttempt } from './attempts.ts'
import { checkNewPassword } from './check-password.ts'
import { findCredentials, findLink, setPassword, spendLink } from './credentials.store.ts'
import { changeOfPerson, demandFromHere, newSession, SignedIn } from './person.ts'
import { problems } from './problems.ts'
import { verifyCode } from './verify.ts'

export const usePasswordLink = endpoint({
  id: 'usePasswordLink',
  method: 'POST',
  path: '/v1/password-links/use',
  summary: 'Set a password by a link, and sign in',
  description:
    'Of the first start, an invitation, or a mail for a lost password. All sessions of the account end, and one begins. Who has set up an authenticator app is asked for its `code`, too.',
  access: 'public',
  rate: 'address',
  body: Type.Object({
    token: Type.String({ maxLength: 100, description: 'What the link has behind `#`', examples: ['mF_9.B5f-4.1JqM'] }),
    password: Type.String({ maxLength: 1000, examples: ['correct horse battery'] }),
    code: Type.Optional(Type.String({ maxLength: 40, examples: ['123456'] })),
  }),
  response: SignedIn,
  problems: [
    authenticationProblems.cross_site,
    problems.link_spent,
    problems.weak_password,
    problems.code_needed,
    problems.wrong_code,
    problems.too_many_guesses,
    problems.too_many_sign_ins,
  ],

  async prepare(context, { body }) {
    demandFromHere(context)
    const { database, passwords, request, now } = context
    const tokenHash = hash('sha256', body.token, 'hex')
    const link = await findLink(database.read, tokenHash, now)
    if (!link) throw new Problem(problems.link_spent, {})
    checkNewPassword(body.password, link.email)
    // whoever reads somebody's mail has the code to guess still
    await database.transaction((tx) => countAttempt(tx, { email: link.email, ipAddress: request.ipAddress }, now))
    return { ...link, tokenHash, passwordHash: await passwords.hash(body.password, request.ipAddress) }
  },

  async handle(context, { body }) {
    const { tx, now, prepared } = context
    const { accountId, email, tokenHash, passwordHash } = prepared
    const credentials = await findCredentials(tx, { id: accountId })
    if (!credentials || !(await spendLink(tx, tokenHash, accountId, now))) throw new Problem(problems.link_spent, {})
    await verifyCode(context, credentials, body.code)
    await attemptWasRight(tx, { email, ipAddress: context.request.ipAddress }, now)
    await setPassword(tx, accountId, passwordHash, now)
    await endSessions(tx, accountId, now)
    const message = 'Set the password by a link; all other sessions have ended'
    await changeOfPerson(context, { accountId, email }).record({ action: actions['password.set'], message })
    return newSession(context, { accountId, email })
  },
})
