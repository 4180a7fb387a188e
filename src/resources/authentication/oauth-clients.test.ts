import * as oauth from 'oauth4webapi'
import { ClientCredentials } from 'simple-oauth2'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { apiOver, type Person, type TestApi, testApi } from '../../../test/support/api.ts'

let api: TestApi
let person: Person
let base: string
beforeAll(async () => {
  api = await testApi('sqlite')
  base = await api.app.listen({ host: '127.0.0.1', port: 0 })
  person = await api.person('owner@example.com')
})
afterAll(() => api.close())

const statusWith = async (token: string) =>
  (await fetch(`${base}/v1/sites`, { headers: { authorization: `Bearer ${token}` } })).status

describe.each(['header', 'body'] as const)('simple-oauth2 with credentials in the %s', (authorizationMethod) => {
  const client = (secret = person.clientSecret) =>
    new ClientCredentials({
      client: { id: person.clientId, secret },
      auth: { tokenHost: base, tokenPath: '/auth/token', revokePath: '/auth/revoke' },
      options: { authorizationMethod },
    })

  it('gets a token, uses and revokes it', async () => {
    const access = await client().getToken({ scope: 'owner' })
    expect([access.expired(), await statusWith(access.token.access_token as string)]).toEqual([false, 200])
    await access.revoke('access_token')
    expect(await statusWith(access.token.access_token as string)).toBe(401)
  })

  it('reports a wrong secret', async () => {
    await expect(client('wrong').getToken({})).rejects.toMatchObject({
      output: { statusCode: 401 },
      data: { payload: { error: 'invalid_client' } },
    })
  })
})

describe('oauth4webapi', () => {
  const http = { [oauth.allowInsecureRequests]: true }
  const discover = async () => {
    const issuer = new URL(base)
    return oauth.processDiscoveryResponse(
      issuer,
      await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...http }),
    )
  }
  const client = () => ({ client_id: person.clientId })
  const ask = async (authentication: oauth.ClientAuth) => {
    const server = await discover()
    const answer = await oauth.clientCredentialsGrantRequest(server, client(), authentication, { scope: 'owner' }, http)
    return oauth.processClientCredentialsResponse(server, client(), answer)
  }

  it.each([
    ['Basic', oauth.ClientSecretBasic],
    ['fields', oauth.ClientSecretPost],
  ])('discovers all endpoints, then gets, uses and revokes a token, by %s', async (_name, authentication) => {
    const { access_token: token, scope } = await ask(authentication(person.clientSecret))
    expect([scope, await statusWith(token)]).toEqual(['authorized owner', 200])
    const server = await discover()
    const revoked = await oauth.revocationRequest(server, client(), authentication(person.clientSecret), token, http)
    await oauth.processRevocationResponse(revoked)
    expect(await statusWith(token)).toBe(401)
  })

  it('reports a wrong secret in the form that the authentication method requires', async () => {
    await expect(ask(oauth.ClientSecretPost('wrong'))).rejects.toMatchObject({
      name: 'ResponseBodyError',
      status: 401,
      error: 'invalid_client',
      error_description: 'The client is unknown, or the client secret is wrong.',
    })
    await expect(ask(oauth.ClientSecretBasic('wrong'))).rejects.toMatchObject({
      name: 'WWWAuthenticateChallengeError',
      status: 401,
      cause: [{ scheme: 'basic', parameters: { realm: 'stead' } }],
    })
  })

  it('reports the fault of a token', async () => {
    const request = oauth.protectedResourceRequest('unknown', 'GET', new URL(`${base}/v1/sites`), undefined, null, http)
    await expect(request).rejects.toMatchObject({
      status: 401,
      cause: [{ scheme: 'bearer', parameters: { realm: 'stead', error: 'invalid_token' } }],
    })
  })
})

describe('authorization server metadata', () => {
  const path = '/.well-known/oauth-authorization-server'

  it('names the address that the client used, only to that client', async () => {
    const answer = await api.app.inject({ url: path, headers: { host: 'api.example.com:8443' } })
    expect([answer.statusCode, answer.headers['cache-control']]).toEqual([200, 'no-store'])
    expect(answer.json()).toMatchObject({
      issuer: 'http://api.example.com:8443',
      token_endpoint: 'http://api.example.com:8443/auth/token',
      revocation_endpoint: 'http://api.example.com:8443/auth/revoke',
      grant_types_supported: ['client_credentials'],
      response_types_supported: [],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
      revocation_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    })
  })

  it('believes only a trusted proxy', async () => {
    const headers = { host: 'inside', 'x-forwarded-proto': 'https', 'x-forwarded-host': 'api.example.com' }
    const asked = async (settings: Record<string, string>) => {
      const { app } = await apiOver(api.database, { settings })
      const { issuer } = (await app.inject({ url: path, headers, remoteAddress: '192.0.2.1' })).json()
      await app.close()
      return issuer
    }
    expect(await asked({ STEAD_TRUST_PROXY: '192.0.2.1' })).toBe('https://api.example.com')
    expect(await asked({ STEAD_TRUST_PROXY: '192.0.2.2' })).toBe('http://inside')
    expect(await asked({})).toBe('http://inside')
  })
})
