import Type from 'typebox'
import { problems as authenticationProblems } from '../../authentication/public.ts'
import { endpoint } from '../../kit/endpoint.ts'
import { actions } from '../actions.ts'
import { countUse, LinkToken, openLink, useLink } from '../password/link.ts'
import { changeOfPerson, newSession, SignedIn } from '../person.ts'
import { problems } from '../problems.ts'
import { addPasskey } from './add-passkey.ts'
import { NewCredential, PasskeyName, verifyNewPasskey } from './passkey.ts'

export const createPasskeyByLink = endpoint({
  id: 'createPasskeyByLink',
  method: 'POST',
  path: '/v1/password-links/passkey',
  summary: 'Add a passkey with a link and sign in',
  description:
    'Accepts any link that sets a password. An existing password stays valid. Ends all sessions of the account and starts a new one. If you use an authenticator app, send its `code` as well.',
  access: 'public',
  rate: 'address',
  body: Type.Object({
    token: LinkToken,
    name: PasskeyName,
    credential: NewCredential,
    code: Type.Optional(Type.String({ maxLength: 40, examples: ['123456'] })),
  }),
  response: SignedIn,
  problems: [
    authenticationProblems.cross_site,
    problems.link_spent,
    problems.code_needed,
    problems.account_suspended,
    problems.wrong_code,
    problems.too_many_guesses,
    problems.passkey_needs_name,
    problems.passkey_not_taken,
    problems.passkey_limit_reached,
  ],

  async prepare(context, { body }) {
    const link = await openLink(context, body.token)
    await countUse(context, link)
    return { link, verified: await verifyNewPasskey(context, link.accountId, body.credential) }
  },

  async handle(context, { body }) {
    const { link, verified } = context.prepared
    const { name } = body
    const { accountId } = link
    await useLink(context, link, body.code)
    await addPasskey(context, {
      ...{ accountId, name, verified },
      transports: body.credential.response.transports ?? [],
    })
    const message = `Added the passkey ${name} with a link and ended all other sessions`
    await changeOfPerson(context, link).record({ action: actions['passkey.added'], message })
    return newSession(context, link)
  },
})
