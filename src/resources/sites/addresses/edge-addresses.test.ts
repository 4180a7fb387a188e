import { expect, it } from 'vitest'
import { edgeAddresses } from './edge-addresses.ts'

const facts = (host: string, given: string[] = []) => ({ edgeAddresses: given, edgeListen: { host, port: 80 } })

it.each([
  ['those that are set', facts('0.0.0.0', ['198.51.100.1', '198.51.100.2']), ['198.51.100.1', '198.51.100.2']],
  [
    'all of those that are set, each once',
    facts('::', ['192.0.2.1', '192.0.2.2', '2001:db8::1', '2001:db8::2', '192.0.2.1']),
    ['192.0.2.1', '192.0.2.2', '2001:db8::1', '2001:db8::2'],
  ],
  ['one that is set', facts('0.0.0.0', ['198.51.100.1']), ['198.51.100.1']],
  ['the one that the edge listens on', facts('192.0.2.9'), ['192.0.2.9']],
  ['the public ones of the machine, where the edge listens on all', facts('0.0.0.0'), ['8.8.4.4', '2606:4700::1']],
  ['the public ones of the machine, where the edge listens on a name', facts('edge.test'), ['8.8.4.4', '2606:4700::1']],
  ['the loopback address, where the edge listens on localhost', facts('localhost'), ['127.0.0.1']],
  ['the same over IPv6', facts('::'), ['8.8.4.4', '2606:4700::1']],
] as const)('%s', (_what, config, addresses) => {
  expect(edgeAddresses(config, () => ['10.0.0.5', '8.8.4.4', '2606:4700::1'])).toEqual(addresses)
})

it('falls back to the machine’s first address without public ones, and never uses the wildcard address', () => {
  expect(edgeAddresses(facts('0.0.0.0'), () => ['10.0.0.5', '10.0.0.6'])).toEqual(['10.0.0.5'])
  expect(edgeAddresses(facts('::'), () => [])).toEqual(['127.0.0.1'])
  expect(edgeAddresses(facts('0.0.0.0'))).not.toContain('0.0.0.0')
})
