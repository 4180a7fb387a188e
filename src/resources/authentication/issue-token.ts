import { randomBytes } from 'node:crypto'
import Type from 'typebox'
import { reply } from '../../platform/http/endpoint.ts'
import { gravatar } from '../account/public.ts'
import { endpoint } from '../kit/endpoint.ts'
import { tokenHash } from './authenticate.ts'
import { authenticateClient, badRequest, noStore, refusedClient, tokenFailure } from './authenticate-client.ts'
import { scopesOf } from './scopes.ts'
import { insertToken } from './token.store.ts'

const LIFETIME_SECONDS = 3600

const Token = Type.Object(
  {
    access_token: Type.String({ examples: ['mF_9.B5f-4.1JqM'] }),
    token_type: Type.String({ examples: ['Bearer'] }),
    expires_in: Type.Integer({ description: 'Seconds', examples: [3600] }),
    scope: Type.String({ description: 'Scopes, separated by spaces', examples: ['authorized owner'] }),
    created_at: Type.Integer({ description: 'Unix time', examples: [1769852000] }),
    id: Type.Integer({ description: 'Account id' }),
    name: Type.String({ examples: ['Example Company'] }),
    email: Type.String({ examples: ['owner@example.com'] }),
    gravatar: Type.String({
      description: 'URL of the avatar',
      examples: [
        'https://www.gravatar.com/avatar/c8cd3c6427301eaf6665bccacd65ddb614527acc843a15463e3faba57124c351?d=mp',
      ],
    }),
    scopes: Type.Array(Type.String(), { examples: [['authorized', 'owner']] }),
  },
  { title: 'Token' },
)

/** RFC 6749 §4.4: the client credentials grant. */
export const issueToken = endpoint({
  id: 'issueToken',
  method: 'POST',
  path: '/auth/token',
  summary: 'Request an access token',
  description: 'Uses the OAuth 2.0 client credentials grant (RFC 6749 §4.4). A token is valid for one hour.',
  access: 'public',
  rate: 'address',
  form: true,
  style: 'bare',
  body: Type.Object({
    grant_type: Type.Optional(
      Type.String({ description: 'Must be client_credentials', examples: ['client_credentials'] }),
    ),
    client_id: Type.Optional(Type.String({ examples: ['your-client-id'] })),
    client_secret: Type.Optional(Type.String({ examples: ['your-client-secret'] })),
    scope: Type.Optional(
      Type.String({ description: 'Accepted and ignored: a token has the scopes of its application' }),
    ),
  }),
  response: Token,
  failure: tokenFailure,

  async handle({ tx, now, request }, { body }) {
    if (!body.grant_type) return badRequest('invalid_request', 'grant_type is required (client_credentials).')
    if (body.grant_type !== 'client_credentials')
      return badRequest('unsupported_grant_type', 'grant_type must be client_credentials.')
    const { client, refusal } = await authenticateClient(tx, body, request.headers.authorization as string | undefined)
    if (!client) return refusal
    if (client.suspended_at !== null)
      return refusedClient('The account is suspended. Contact the operator of this installation.')
    const accessToken = randomBytes(32).toString('base64url')
    await insertToken(tx, {
      hash: tokenHash(accessToken),
      applicationId: client.id,
      now,
      expiresAt: now + LIFETIME_SECONDS * 1000,
    })
    const scopes = scopesOf(client)
    const token = {
      access_token: accessToken,
      token_type: 'Bearer',
      expires_in: LIFETIME_SECONDS,
      scope: scopes.join(' '),
      created_at: Math.floor(now / 1000),
      id: client.account_id,
      name: client.name,
      email: client.email,
      gravatar: gravatar(client.email),
      scopes,
    }
    return reply(token, { headers: noStore })
  },
})
