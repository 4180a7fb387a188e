import Type from 'typebox'
import { reply } from '../../platform/http/endpoint.ts'
import { endpoint } from '../kit/endpoint.ts'
import { tokenHash } from './authenticate.ts'
import { authenticateClient, badRequest, noStore, tokenFailure } from './authenticate-client.ts'
import { endToken } from './token.store.ts'

/** RFC 7009: token revocation. */
export const revokeToken = endpoint({
  id: 'revokeToken',
  method: 'POST',
  path: '/auth/revoke',
  summary: 'Revoke an access token',
  description:
    'Follows RFC 7009. The token stops working immediately on all hosts. The response is the same for an unknown token.',
  access: 'public',
  rate: 'address',
  form: true,
  style: 'bare',
  body: Type.Object({
    token: Type.Optional(Type.String({ examples: ['mF_9.B5f-4.1JqM'] })),
    token_type_hint: Type.Optional(Type.String({ description: 'Accepted and ignored: there is one type of token' })),
    client_id: Type.Optional(Type.String({ examples: ['your-client-id'] })),
    client_secret: Type.Optional(Type.String({ examples: ['your-client-secret'] })),
  }),
  response: Type.Unsafe<undefined>({ type: 'null', description: 'The response has no body' }),
  failure: tokenFailure,

  async handle({ tx, now, request }, { body }) {
    const { client, refusal } = await authenticateClient(tx, body, request.headers.authorization as string | undefined)
    if (!client) return refusal
    if (!body.token) return badRequest('invalid_request', 'token is required.')
    await endToken(tx, { hash: tokenHash(body.token), applicationId: client.id, now })
    // Libraries that accept only JSON check the type before they notice that the body is empty.
    const takesJson = String(request.headers.accept).includes('application/json')
    return reply(undefined, {
      headers: { ...noStore, ...(takesJson && { 'content-type': 'application/json; charset=utf-8' }) },
    })
  },
})
