import { expect, test } from 'vitest'
import { faultOfIssued } from './issued.ts'
import { issueLocally, makeLocalAuthority } from './local-authority.ts'

test('accepts a certificate that matches the order, or reports why it does not', async () => {
  const now = Date.now()
  const hostName = 'www.example.com'
  const authority = await makeLocalAuthority('example.com', now)
  const { chain, key, expiresAt } = await issueLocally(authority, hostName, now)
  const other = await issueLocally(authority, hostName, now)
  expect(faultOfIssued(chain, { hostName, key, now })).toBeUndefined()
  expect(faultOfIssued(chain, { hostName: 'example.com', key, now })).toBe('it is for other names')
  expect(faultOfIssued(chain, { hostName, key: other.key, now })).toBe('it is for another key')
  expect(faultOfIssued(chain, { hostName, key, now: expiresAt + 1000 })).toBe('it has ended')
  expect(faultOfIssued('<html>', { hostName, key, now })).toBe('it cannot be read')
})
