import Type from 'typebox'
import { problems as authenticationProblems } from '../authentication/problems.ts'
import { endpoint } from '../endpoint.ts'
import { LinkToken, openLink } from './link.ts'
import { creationOptions, PasskeyCreationOptions } from './passkey.ts'
import { problems } from './problems.ts'

export const beginPasskeyByLink = endpoint({
  id: 'beginPasskeyByLink',
  method: 'POST',
  path: '/v1/password-links/passkey/options',
  summary: 'Begin to add a passkey by a link',
  description:
    'As `POST /v1/passkeys/options`, for who has a link and no session. Nothing changes, and the link is not used.',
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
