import Type from 'typebox'
import { reply } from '../../platform/http/endpoint.ts'
import { endpoint } from '../kit/endpoint.ts'
import { noStore } from './authenticate-client.ts'
import { issueToken } from './issue-token.ts'
import { revokeToken } from './revoke-token.ts'
import { scopes } from './scopes.ts'

const methods = ['client_secret_basic', 'client_secret_post']

/** RFC 8414: OAuth libraries find all endpoints here, so that a user configures only the address of this Stead. */
export const getAuthorizationServer = endpoint({
  id: 'getAuthorizationServer',
  method: 'GET',
  path: '/.well-known/oauth-authorization-server',
  summary: 'Get the authorization server metadata',
  description: 'Returns the authorization server metadata of RFC 8414. All addresses use the host name of the request.',
  access: 'public',
  style: 'bare',
  etag: true,
  response: Type.Object(
    {
      issuer: Type.String({ description: 'Address of this installation', examples: ['https://stead.example.com'] }),
      token_endpoint: Type.String({ examples: ['https://stead.example.com/auth/token'] }),
      revocation_endpoint: Type.String({ examples: ['https://stead.example.com/auth/revoke'] }),
      grant_types_supported: Type.Array(Type.String(), { examples: [['client_credentials']] }),
      response_types_supported: Type.Array(Type.String(), {
        description: 'Always empty: Stead has no authorization page',
        examples: [[]],
      }),
      scopes_supported: Type.Array(Type.String(), { examples: [Object.keys(scopes)] }),
      token_endpoint_auth_methods_supported: Type.Array(Type.String(), { examples: [methods] }),
      revocation_endpoint_auth_methods_supported: Type.Array(Type.String(), { examples: [methods] }),
      service_documentation: Type.String({ examples: ['https://stead.example.com/docs'] }),
    },
    { title: 'AuthorizationServer' },
  ),

  async handle({ origin }) {
    const metadata = {
      issuer: origin,
      token_endpoint: origin + issueToken.path,
      revocation_endpoint: origin + revokeToken.path,
      grant_types_supported: ['client_credentials'],
      response_types_supported: [],
      scopes_supported: Object.keys(scopes),
      token_endpoint_auth_methods_supported: methods,
      revocation_endpoint_auth_methods_supported: methods,
      service_documentation: `${origin}/docs`,
    }
    // The answer uses the server name that this client sent, so it is for this client only.
    return reply(metadata, { headers: noStore })
  },
})
