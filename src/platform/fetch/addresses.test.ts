import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { AddressNotFound, AddressRefused, canonicalHost, isPublicAddress, lookupPublic } from './addresses.ts'

const inside = `0.0.0.0 0.1.2.3 10.0.0.1 100.64.0.1 127.0.0.1 127.255.255.254 169.254.169.254 172.16.0.1 172.31.255.255
  192.0.0.8 192.0.2.1 192.88.99.1 192.168.1.1 198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1 239.1.1.1 240.0.0.1
  255.255.255.255 :: ::1 ::127.0.0.1 ::8.8.8.8 ::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:10.0.0.1 ::ffff:0:10.0.0.1 64:ff9b::7f00:1
  64:ff9b::10.0.0.1 64:ff9b:1::8.8.8.8 100::1 2001::1 2001:2::1 2001:db8::1 2002:7f00:1:: 2002:a00:1::1 2001:0:7f00:1::1
  3fff::1 5f00::1 4000::1 fc00::1 fd12:3456::1 fe80::1 fe80::1%eth0 fec0::1 ff02::1`.split(/\s+/)
const outside = `1.1.1.1 8.8.8.8 93.184.216.34 172.15.255.255 172.32.0.1 100.128.0.1 2606:4700:4700::1111 2a00:1450::1
  ::ffff:8.8.8.8 64:ff9b::8.8.8.8`.split(/\s+/)

describe('isPublicAddress', () => {
  test.each(inside)('refuses %s', (ip) => expect(isPublicAddress(ip)).toBe(false))
  test.each(outside)('allows %s', (ip) => expect(isPublicAddress(ip)).toBe(true))
  test.each(['', 'localhost', '0x7f.1', '127.1', '2130706433', '010.0.0.1', '8.8.8.8.', '[::1]', ' 8.8.8.8'])(
    'refuses %j, which is not an address in canonical form',
    (text) => expect(isPublicAddress(text)).toBe(false),
  )

  test('treats an IPv4 address the same on its own, mapped, and behind NAT64', () => {
    fc.assert(
      fc.property(fc.ipV4(), (ip) => {
        expect(isPublicAddress(`::ffff:${ip}`)).toBe(isPublicAddress(ip))
        expect(isPublicAddress(`64:ff9b::${ip}`)).toBe(isPublicAddress(ip))
      }),
    )
  })

  test('treats no IPv6 address outside 2000::/3 as public, except those that contain IPv4', () => {
    fc.assert(
      fc.property(fc.ipV6(), (ip) => {
        const head = Number.parseInt(ip.split(':')[0] || '0', 16)
        if (isPublicAddress(ip)) expect(head >>> 13 === 1 || /^(::ffff:|64:ff9b::|[0:]+:ffff:)/i.test(ip)).toBe(true)
      }),
    )
  })

  test('never throws', () => {
    fc.assert(fc.property(fc.string(), (text) => typeof isPublicAddress(text) === 'boolean'))
  })
})

describe('canonicalHost', () => {
  test.each([
    ['0x7f.1', '127.0.0.1'],
    ['2130706433', '127.0.0.1'],
    ['017700000001', '127.0.0.1'],
    ['127.1', '127.0.0.1'],
    ['127.0.0.1.', '127.0.0.1'],
    ['①②⑦.0.0.1', '127.0.0.1'],
    ['%31%32%37.0.0.1', '127.0.0.1'],
    ['[::ffff:127.0.0.1]', '::ffff:7f00:1'],
    ['::1', '::1'],
    ['EXAMPLE.com', 'example.com'],
    ['bücher.example', 'xn--bcher-kva.example'],
  ])('reads %s as %s', (spelling, host) => expect(canonicalHost(spelling)).toBe(host))

  test.each(['', ' ', 'a b', 'a/b', 'a@b', 'a:80', '[::1]:80', '256.1.1.1', '1.2.3.4.5', 'a#b', 'a\\b', '[::1'])(
    'refuses %j',
    (spelling) => expect(() => canonicalHost(spelling)).toThrow(AddressRefused),
  )

  test('reads every spelling of an IPv4 number as the same address', () => {
    fc.assert(
      fc.property(fc.nat(0xffffffff), (number) => {
        const dotted = [24, 16, 8, 0].map((shift) => (number >>> shift) & 255).join('.')
        for (const spelling of [String(number), `0x${number.toString(16)}`, `0${number.toString(8)}`, `${dotted}.`])
          expect(canonicalHost(spelling)).toBe(dotted)
      }),
    )
  })
})

describe('lookupPublic', () => {
  const answering = (...ips: string[]) => ({
    allowPrivate: false,
    resolve: async () =>
      ips.map((address) => ({ address, family: address.includes(':') ? (6 as const) : (4 as const) })),
  })

  test.each(['127.0.0.1', '0x7f.1', '2130706433', '[::1]', '::1', '[::ffff:127.0.0.1]', 'localhost', 'a.localhost.'])(
    'refuses %s',
    async (host) => {
      await expect(lookupPublic(host, { allowPrivate: false })).rejects.toThrow(AddressRefused)
      expect(await lookupPublic(host, { allowPrivate: true })).not.toHaveLength(0)
    },
  )

  test('returns every public address', async () => {
    expect(await lookupPublic('example.com', answering('8.8.8.8', '2606:4700::1'))).toEqual([
      { address: '8.8.8.8', family: 4 },
      { address: '2606:4700::1', family: 6 },
    ])
  })

  test('refuses a name with one private address among public ones', async () => {
    await expect(lookupPublic('both.example', answering('8.8.8.8', '10.0.0.1'))).rejects.toThrow(AddressRefused)
  })

  test('fails if a name has no address or does not resolve', async () => {
    await expect(lookupPublic('none.example', answering())).rejects.toThrow(AddressNotFound)
    const failing = { allowPrivate: false, resolve: () => Promise.reject(new Error('ENOTFOUND')) }
    await expect(lookupPublic('gone.example', failing)).rejects.toThrow('gone.example could not be resolved')
  })

  test('does not show users the private address', async () => {
    await expect(lookupPublic('in.example', answering('10.1.2.3'))).rejects.toThrow(
      'in.example is not on the public internet',
    )
  })
})
