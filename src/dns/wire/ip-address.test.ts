import { describe, expect, test } from 'vitest'
import { addressBytes, canonicalAddress } from './ip-address.ts'

describe('spellings of one IPv6 address become one text and the same bytes', () => {
  test.each([
    ['2001:DB8:0::1', '2001:db8::1', '20010db8000000000000000000000001'],
    ['2001:0db8:0:0:0:0:0:1', '2001:db8::1', '20010db8000000000000000000000001'],
    ['2001:db8::0.0.0.1', '2001:db8::1', '20010db8000000000000000000000001'],
    ['::', '::', '00000000000000000000000000000000'],
    ['0:0:0:0:0:0:0:1', '::1', '00000000000000000000000000000001'],
    ['1::', '1::', '00010000000000000000000000000000'],
    ['1:0:0:2:0:0:0:3', '1:0:0:2::3', '00010000000000020000000000000003'],
    ['1:2:3:4:5:6:7::', '1:2:3:4:5:6:7:0', '00010002000300040005000600070000'],
    ['::ffff:1.2.3.4', '::ffff:1.2.3.4', '00000000000000000000ffff01020304'],
    ['::FFFF:0102:0304', '::ffff:1.2.3.4', '00000000000000000000ffff01020304'],
    ['::1.2.3.4', '::102:304', '00000000000000000000000001020304'],
    ['64:ff9b::192.0.2.33', '64:ff9b::c000:221', '0064ff9b0000000000000000c0000221'],
  ])('%s', (text, canonical, bytes) => {
    expect(canonicalAddress('AAAA', text)).toBe(canonical)
    expect(addressBytes('AAAA', text).toString('hex')).toBe(bytes)
    expect(addressBytes('AAAA', canonical).toString('hex')).toBe(bytes)
  })
})

test.each([
  ['AAAA', 'fe80::1%eth0'],
  ['AAAA', '192.0.2.1'],
  ['AAAA', '1::2::3'],
  ['AAAA', '[::1]'],
  ['A', '2001:db8::1'],
  ['A', '192.0.2.256'],
  ['A', '192.0.2.01'],
  ['A', '10'],
] as const)('%s refuses %s', (type, text) => {
  expect(() => addressBytes(type, text)).toThrow(RangeError)
  expect(() => canonicalAddress(type, text)).toThrow(RangeError)
})
