import Type from 'typebox'
import { reply } from '../../platform/http/endpoint.ts'
import { endpoint } from '../endpoint.ts'
import { tokenHash } from './authenticate.ts'
import { authenticateClient, tokenFailure } from './client.ts'
import { revokeToken as revoke } from './token.store.ts'

/** RFC 7009: revoking. */
export const revokeToken = endpoint({
  id: 'revokeToken',
  method: 'POST',
  path: '/auth/revoke',
  summary: 'Revoke an access token',
  description: 'RFC 7009. The token is unusable at once, everywhere. An unknown token is answered alike.',
  access: 'public',
  rate: 'address',
  form: true,
  style: 'bare',
  body: Type.Object({
    token: Type.Optional(Type.String()),
    client_id: Type.Optional(Type.String()),
    client_secret: Type.Optional(Type.String()),
  }),
  response: Type.Unsafe<undefined>({ type: 'null', description: 'No body' }),
  failure: tokenFailure,

  async handle({ tx, now, request }, { body }) {
    const headers = { 'cache-control': 'no-store' }
    const { client, error } = await authenticateClient(tx, body, request.headers.authorization as string | undefined)
    if (!client)
      return reply(error, { status: 401, headers: { ...headers, 'www-authenticate': 'Basic realm="stead"' } })
    if (!body.token)
      return reply({ error: 'invalid_request', error_description: 'token is required.' }, { status: 400, headers })
    await revoke(tx, { hash: tokenHash(body.token), applicationId: client.id, now })
    return reply(undefined, { headers })
  },
})
