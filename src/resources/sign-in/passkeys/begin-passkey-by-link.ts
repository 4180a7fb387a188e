import Type from 'typebox'
import { problems as authenticationProblems } from '../../authentication/public.ts'
import { endpoint } from '../../kit/endpoint.ts'
import { LinkToken, openLink } from '../password/link.ts'
import { problems } from '../problems.ts'
import { creationOptions, PasskeyCreationOptions } from './passkey.ts'

export const beginPasskeyByLink = endpoint({
  id: 'beginPasskeyByLink',
  method: 'POST',
  path: '/v1/password-links/passkey/options',
  summary: 'Start adding a passkey with a link',
  description:
    'Works like `POST /v1/passkeys/options` for people who have a link but no session. This request changes nothing and does not use up the link.',
  access: 'public',
  rate: 'address',
  reads: true,
  body: Type.Object({ token: LinkToken }),
  response: PasskeyCreationOptions,
  problems: [
    authenticationProblems.cross_site,
    problems.link_spent,
    problems.passkey_needs_name,
    problems.passkey_limit_reached,
  ],

  handle: async (context, { body }) => creationOptions(context, await openLink(context, body.token)),
})
