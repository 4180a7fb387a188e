import { expect, test } from 'vitest'
import { proofName, untilAnswered } from './dns-proof.ts'

test('a name and all names below it are proved in one place', () => {
  expect(proofName('*.sites.example')).toBe('_acme-challenge.sites.example')
  expect(proofName('api.example')).toBe('_acme-challenge.api.example')
})

test('name servers that do not answer are named in the end', async () => {
  // nobody listens there
  const servers = [{ name: 'ns1.example', address: '127.77.9.9' }]
  const { signal } = new AbortController()
  const asked = { name: '_acme-challenge.example', value: 'v', servers, signal, patienceMs: 0 }
  expect(await untilAnswered(asked)).toEqual(['ns1.example (127.77.9.9)'])
})
