import fastify from 'fastify'
import { expect, test } from 'vitest'
import { createTrust } from './client-address.ts'
import { readOrigins } from './origin.ts'

/**
 * Returns the origin and client that the API reads from a request.
 * @param from the address of the peer
 */
async function read(headers: Record<string, string>, { publicUrl = '', from = '10.0.0.1' } = {}): Promise<string> {
  const trustProxy = ['10.0.0.0/8']
  const app = fastify({ trustProxy: createTrust(trustProxy) })
  readOrigins(app, { trustProxy, publicUrl })
  app.get('/', async (request) => `${request.publicOrigin()} ${request.client.address}`)
  const answer = await app.inject({ url: '/', headers, remoteAddress: from })
  await app.close()
  return answer.body
}

test('reads lists of proxies in the API as on the edge', async () => {
  const headers = { host: 'api.example', 'x-forwarded-for': '192.0.2.7, 10.0.0.2', 'x-forwarded-proto': 'https,http' }
  expect(await read(headers)).toBe('https://api.example 192.0.2.7')
  expect(await read(headers, { from: '192.0.2.9' })).toBe('http://api.example 192.0.2.9')
})

test.each([
  ['a proxy drops the port', { host: 'panel.example' }, 'https://panel.example:8443'],
  [
    'a proxy says the scheme, and drops the port',
    { host: 'panel.example', 'x-forwarded-proto': 'https' },
    'https://panel.example:8443',
  ],
  ['a proxy keeps the port', { host: 'panel.example:8443' }, 'https://panel.example:8443'],
  ['a proxy says another scheme', { host: 'panel.example', 'x-forwarded-proto': 'http' }, 'http://panel.example'],
  ['another port', { host: 'panel.example:8080' }, 'http://panel.example:8080'],
  ['another name', { host: 'api.example' }, 'http://api.example'],
])('takes the address of the panel as the origin: %s', async (_name, headers, origin) => {
  expect(await read(headers, { publicUrl: 'https://panel.example:8443/' })).toBe(`${origin} 10.0.0.1`)
})
