import Type from 'typebox'
import { Nothing } from '../../../platform/http/schemas.ts'
import { findAccountByEmail, normalEmail } from '../../account/public.ts'
import { problems as authenticationProblems } from '../../authentication/public.ts'
import { endpoint } from '../../kit/endpoint.ts'
import { isMailing } from '../credentials.store.ts'
import { changeOfPerson, requireFromHere } from '../person.ts'
import { mailLink } from './mail-link.job.ts'

export const requestPasswordLink = endpoint({
  id: 'requestPasswordLink',
  method: 'POST',
  path: '/v1/password-links',
  summary: 'Request a link to set a new password',
  description:
    'Sends the link by mail if an account has this address. The response is the same if none does. The link works once and expires in one hour. Stead sends at most three links an hour to one address.',
  access: 'public',
  rate: 'address',
  body: Type.Object({ email: Type.String({ maxLength: 254, examples: ['owner@example.com'] }) }),
  response: Nothing,
  problems: [authenticationProblems.cross_site],

  async handle(context, { body }) {
    requireFromHere(context)
    const { tx } = context
    const account = await findAccountByEmail(tx, normalEmail(body.email))
    if (!account || (await isMailing(tx, account.id, mailLink.name))) return null
    const { id: accountId, email } = account
    await changeOfPerson(context, { accountId, email }).start(mailLink, { accountId, kind: 'lost' })
    return null
  },
})
