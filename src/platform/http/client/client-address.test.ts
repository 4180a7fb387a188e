import type { IncomingMessage } from 'node:http'
import { expect, test } from 'vitest'
import { createClientReader } from './client-address.ts'

const from = (peer: string | undefined, forwardedFor?: string, proto?: string, encrypted = false) =>
  ({
    socket: { remoteAddress: peer, encrypted },
    headers: { 'x-forwarded-for': forwardedFor, 'x-forwarded-proto': proto },
  }) as unknown as IncomingMessage

// biome-ignore format: a table
test.each([
  ['not trusted: the peer', [], from('192.0.2.9', '1.1.1.1', 'https'), '192.0.2.9', '192.0.2.9', 'http'],
  ['IPv4 on a dual-stack socket', [], from('::ffff:192.0.2.9'), '192.0.2.9', '192.0.2.9', 'http'],
  ['socket gone', ['10.0.0.0/8'], from(undefined, '1.1.1.1'), '', '', 'http'],
  ['TLS of our own', [], from('192.0.2.9', undefined, undefined, true), '192.0.2.9', '192.0.2.9', 'https'],
  ['one proxy', ['10.0.0.0/8'], from('10.1.2.3', '192.0.2.7', 'https'), '192.0.2.7', '192.0.2.7, 10.1.2.3', 'https'],
  ['trusted on a dual-stack socket', ['10.0.0.0/8'], from('::ffff:10.1.2.3', '192.0.2.7'), '192.0.2.7', '192.0.2.7, 10.1.2.3', 'http'],
  ['forged first entry', ['10.0.0.0/8'], from('10.1.2.3', '1.1.1.1, 192.0.2.7'), '192.0.2.7', '192.0.2.7, 10.1.2.3', 'http'],
  ['two proxies', ['10.0.0.0/8', '2001:db8::1'], from('2001:db8::1', '1.1.1.1, 192.0.2.7, 10.0.0.1'), '192.0.2.7', '192.0.2.7, 10.0.0.1, 2001:db8::1', 'http'],
  ['with ports', ['10.0.0.1'], from('10.0.0.1', '[2001:db8::7]:4711'), '2001:db8::7', '2001:db8::7, 10.0.0.1', 'http'],
  ['rubbish ends the chain', ['10.0.0.1'], from('10.0.0.1', '1.1.1.1, <script>'), '10.0.0.1', '10.0.0.1', 'http'],
  ['no header from the proxy', ['10.0.0.1'], from('10.0.0.1'), '10.0.0.1', '10.0.0.1', 'http'],
  ['a scheme twice', ['10.0.0.1'], from('10.0.0.1', '1.1.1.1', 'https, https'), '1.1.1.1', '1.1.1.1, 10.0.0.1', 'https'],
  ['a CDN and a proxy add the scheme', ['10.0.0.0/8'], from('10.0.0.1', '1.1.1.1, 10.0.0.2', 'https,http'), '1.1.1.1', '1.1.1.1, 10.0.0.2, 10.0.0.1', 'https'],
  ['a visitor adds one before them', ['10.0.0.0/8'], from('10.0.0.1', '1.1.1.1, 10.0.0.2', 'https,http,http'), '1.1.1.1', '1.1.1.1, 10.0.0.2, 10.0.0.1', 'http'],
  ['a visitor adds one before the only proxy', ['10.0.0.1'], from('10.0.0.1', '1.1.1.1', 'https,http'), '1.1.1.1', '1.1.1.1, 10.0.0.1', 'http'],
  ['the last proxy says it for all', ['10.0.0.0/8'], from('10.0.0.1', '1.1.1.1, 10.0.0.2', 'https'), '1.1.1.1', '1.1.1.1, 10.0.0.2, 10.0.0.1', 'https'],
  ['a scheme from a proxy that names nobody', ['10.0.0.1'], from('10.0.0.1', undefined, 'https'), '10.0.0.1', '10.0.0.1', 'https'],
  ['odd scheme', ['10.0.0.1'], from('10.0.0.1', '1.1.1.1', 'gopher'), '1.1.1.1', '1.1.1.1, 10.0.0.1', 'http'],
] as [string, string[], IncomingMessage, string, string, string][])('%s', (_name, trusted, request, address, forwardedFor, scheme) => {
  expect(createClientReader(trusted, 'http')(request)).toMatchObject({ address, forwardedFor, scheme })
})

test('takes the scheme of the public port if no proxy declares another', () => {
  const read = createClientReader(['10.0.0.1'], 'https')
  expect(read(from('10.0.0.1', '1.1.1.1'))).toMatchObject({ scheme: 'https', isSchemeKnown: false })
  expect(read(from('10.0.0.1', '1.1.1.1', 'http'))).toMatchObject({ scheme: 'http', isSchemeKnown: true })
})

test('refuses entries that are not an address or a network', () => {
  expect(() => createClientReader(['10.0.0.0/99'], 'http')).toThrow()
  expect(() => createClientReader(['proxy.test'], 'http')).toThrow()
})
