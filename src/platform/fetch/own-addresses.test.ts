import type { NetworkInterfaceInfo } from 'node:os'
import { describe, expect, it, vi } from 'vitest'
import { AddressRefused, lookupPublic } from './addresses.ts'
import { createOwnAddresses } from './own-addresses.ts'

const having =
  (...addresses: string[]) =>
  () => ({
    eth0: addresses.map((address) => ({ address }) as NetworkInterfaceInfo),
  })

describe('the addresses of this machine', () => {
  it('are those of its interfaces and the configured ones, in any spelling', () => {
    const isOwn = createOwnAddresses(
      ['198.51.100.7', 'no address'],
      having('203.0.113.5', '2001:db8::5', 'fe80::1%eth0'),
    )
    const own = [
      '203.0.113.5',
      '::ffff:203.0.113.5',
      '64:ff9b::203.0.113.5',
      '2001:DB8:0::5',
      '198.51.100.7',
      'fe80::1',
    ]
    expect(own.map((address) => [address, isOwn(address)])).toEqual(own.map((address) => [address, true]))
    for (const address of ['203.0.113.6', '2001:db8::6', '198.51.100.8', 'no address', ''])
      expect(isOwn(address)).toBe(false)
  })

  it('are read again after a few seconds', () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    try {
      let now = having('203.0.113.5')
      const isOwn = createOwnAddresses([], () => now())
      expect([isOwn('203.0.113.5'), isOwn('203.0.113.9')]).toEqual([true, false])
      now = having('203.0.113.9')
      vi.advanceTimersByTime(5_001)
      expect([isOwn('203.0.113.5'), isOwn('203.0.113.9')]).toEqual([false, true])
    } finally {
      vi.useRealTimers()
    }
  })

  it('are not resolved for users, although they are public', async () => {
    const resolve = async () => [{ address: '93.184.215.14', family: 4 as const }]
    const found = await lookupPublic('shop.example', { allowPrivate: false, resolve })
    expect(found).toHaveLength(1)
    const options = { allowPrivate: false, resolve, isOwn: createOwnAddresses(['93.184.215.14']) }
    await expect(lookupPublic('shop.example', options)).rejects.toThrow(AddressRefused)
    await expect(lookupPublic('93.184.215.14', options)).rejects.toThrow(AddressRefused)
    expect(await lookupPublic('shop.example', { ...options, allowPrivate: true })).toHaveLength(1)
  })
})
