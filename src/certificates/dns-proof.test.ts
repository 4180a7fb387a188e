import { expect, test } from 'vitest'
import { responderOf, zonesOf } from '../dns/test-support.ts'
import { listenUdp } from '../dns/udp.ts'
import { proofName, untilAnswered } from './dns-proof.ts'

test('a name and all names below it have one place for their proof', () => {
  expect(proofName('*.sites.example')).toBe('_acme-challenge.sites.example')
  expect(proofName('api.example')).toBe('_acme-challenge.api.example')
})

test('lists the name servers that do not answer', async () => {
  // Nothing listens there.
  const servers = [{ name: 'ns1.example', address: '127.77.9.9' }]
  const { signal } = new AbortController()
  const asked = { name: '_acme-challenge.example', value: 'v', servers, signal, patienceMs: 0 }
  expect(await untilAnswered(asked)).toEqual(['ns1.example (127.77.9.9)'])
})

test('does not accept another proof of the same name, from an earlier order', async () => {
  const zones = zonesOf({ example: ['_acme-challenge TXT older', '_acme-challenge.b TXT v'] })
  const options = { responder: responderOf(zones), host: '127.0.0.1', port: 0, isShared: false, onError() {} }
  const socket = await listenUdp(options)
  try {
    const servers = [{ name: 'ns1.example', address: `127.0.0.1:${socket.address().port}` }]
    const { signal } = new AbortController()
    const answered = (name: string) => untilAnswered({ name, value: 'v', servers, signal, patienceMs: 0 })
    expect(await answered('_acme-challenge.example')).toHaveLength(1)
    expect(await answered('_acme-challenge.b.example')).toEqual([])
  } finally {
    socket.close()
  }
})
