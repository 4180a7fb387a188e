import { describe, expect, test } from 'vitest'
import { readRecordData } from '../../../dns/wire/record-data.ts'
import { normalHostName, normalName, zoneNameOf } from '../zone-name.ts'
import { type NewRecord, readRecord } from './read-record.ts'
import { asWritten } from './record.ts'
import { mergedSpf } from './spf.ts'

const read = (input: NewRecord) => readRecord(input, 'example.com')
const recordOf = (input: NewRecord) => {
  const result = read(input)
  return 'record' in result ? result.record : result
}

describe('fields that each type needs', () => {
  test.each([
    [
      { type: 'A', value: '192.0.2.1' },
      { name: '', value: '192.0.2.1', ttl: undefined },
    ],
    [
      { type: 'a', name: '@', value: ' 192.0.2.1 ', ttl: 0 },
      { type: 'A', name: '', ttl: 0 },
    ],
    [
      { type: 'AAAA', name: 'WWW', value: '2001:DB8::1' },
      { name: 'www', value: '2001:db8::1' },
    ],
    [{ type: 'AAAA', value: '2001:DB8:0::1' }, { value: '2001:db8::1' }],
    [{ type: 'AAAA', value: '2001:0db8:0000::0001' }, { value: '2001:db8::1' }],
    [{ type: 'AAAA', value: '::FFFF:0102:0304' }, { value: '::ffff:1.2.3.4' }],
    [{ type: 'AAAA', value: '::1.2.3.4' }, { value: '::102:304' }],
    [{ type: 'A', name: 'www.example.com', value: '192.0.2.1' }, { name: 'www' }],
    [{ type: 'A', name: 'www.example.com.', value: '192.0.2.1' }, { name: 'www' }],
    [{ type: 'A', name: 'example.com.', value: '192.0.2.1' }, { name: '' }],
    [{ type: 'TXT', name: '*', value: 'x' }, { name: '*' }],
    [{ type: 'TXT', name: '*.a.example.com', value: 'x' }, { name: '*.a' }],
    [{ type: 'A', name: 'bücher', value: '192.0.2.1' }, { name: 'xn--bcher-kva' }],
    [{ type: 'CNAME', name: 'shop', value: 'shops.example.net.' }, { value: 'shops.example.net' }],
    [{ type: 'CNAME', name: 'shop', value: '@' }, { value: 'example.com' }],
    [
      { type: 'MX', value: 'mail.example.net', priority: 10, weight: 5 },
      { priority: 10, weight: null },
    ],
    [{ type: 'MX', value: '.', priority: 0 }, { value: '' }],
    [{ type: 'MX', value: 'mail.example.net', priority: 65_535 }, { priority: 65_535 }],
    [
      { type: 'SRV', name: '_sip._tcp', value: 'sip.example.net', priority: 1, weight: 2, port: 5060 },
      { priority: 1, weight: 2, port: 5060 },
    ],
    [{ type: 'TXT', value: 'plain "text" stays' }, { value: 'plain "text" stays' }],
    [{ type: 'TXT', value: '"two " "parts \\" belong"' }, { value: 'two parts " belong' }],
    [{ type: 'CAA', value: '0 ISSUE ca.example' }, { value: '0 issue "ca.example"' }],
    [{ type: 'CAA', value: '128 issuewild ";"' }, { value: '128 issuewild ";"' }],
    [{ type: 'TLSA', name: '_443._tcp', value: `3 1 1 ${'AB'.repeat(32)}` }, { value: `3 1 1 ${'ab'.repeat(32)}` }],
    [{ type: 'SSHFP', name: 'a', value: `4  2 ${'ab'.repeat(32)}` }, { value: `4 2 ${'ab'.repeat(32)}` }],
    [
      { type: 'A', name: 'www', site_id: 3 },
      { value: '', siteId: 3 },
    ],
  ])('%j', (input, expected) => {
    const record = recordOf(input)
    expect(record).toMatchObject(expected)
    // The name server can serve each record that the API accepts.
    if ('value' in record && record.siteId === null) readRecordData({ ...record, ttl: record.ttl ?? 0 })
  })

  test.each<[NewRecord, string[]]>([
    [
      { type: 'alias', value: 'x.test' },
      ['type: ALIAS is not a DNS type. Use an A record that points to a site, or A and AAAA records'],
    ],
    [{ type: 'PTR', value: 'x' }, ['type: must be one of A, AAAA, CNAME, MX, TXT, SRV, NS, CAA, HTTPS, TLSA, SSHFP']],
    [{ type: 'A' }, ['value: is required for A records']],
    [{ type: 'A', value: '2001:db8::1' }, ['value: must be an IPv4 address']],
    [{ type: 'AAAA', value: '192.0.2.1' }, ['value: must be an IPv6 address']],
    [{ type: 'AAAA', value: 'fe80::1%eth0' }, ['value: must not contain a zone identifier (%eth0)']],
    [{ type: 'AAAA', value: '1::2::3' }, ['value: must be an IPv6 address']],
    [
      { type: 'CNAME', value: 'a.test' },
      [
        'name: must be below the zone: a name with a CNAME cannot have other records, and the zone itself has SOA and NS. Use an A record that points to a site, or A and AAAA records',
      ],
    ],
    [{ type: 'CNAME', name: 'a', value: '192.0.2.1' }, ['value: must be a host name']],
    [{ type: 'NS', name: 'a', value: '.' }, ['value: must be a host name']],
    [{ type: 'MX', value: 'a.test' }, ['priority: is required for MX records']],
    [
      { type: 'SRV', name: 'a b', value: '', priority: 65_536, weight: -1, ttl: 2 ** 31 },
      [
        'name: may contain letters, digits, dashes and underscores, with dots between labels of at most 63 characters',
        'value: is required for SRV records',
        'priority: must be from 0 to 65535',
        'weight: must be from 0 to 65535',
        'port: is required for SRV records',
        'ttl: must be from 0 to 2147483647 seconds',
      ],
    ],
    [{ type: 'TXT', value: 'a\nb' }, ['value: must not contain control characters']],
    [{ type: 'TXT', value: 'ü'.repeat(2001) }, ['value: must have at most 4000 bytes']],
    [{ type: 'CAA', value: '256 issue "x"' }, ['value: must look like: 0 issue "ca.example"']],
    [
      { type: 'A', name: 'a.other.test.', value: '192.0.2.1' },
      ['name: must end with example.com if it ends with a dot'],
    ],
    [
      { type: 'A', name: 'a'.repeat(64), value: '192.0.2.1' },
      ['name: may contain letters, digits, dashes and underscores, with dots between labels of at most 63 characters'],
    ],
    [{ type: 'A', name: 'a*', value: '192.0.2.1' }, [expect.stringMatching(/^name: /)]],
    [
      { type: 'A', name: `${'a.'.repeat(120)}abcd`, value: '192.0.2.1' },
      ['name: is too long: together with the zone, it can have 253 characters'],
    ],
    [{ type: 'AAAA', value: '::1', site_id: 1 }, ['site_id: is allowed for A records only']],
  ])('%j: %j', (input, faults) => {
    expect(read(input)).toEqual({ faults })
  })
})

test('names: accepts international ones and a final dot, and refuses invalid ones', () => {
  expect(['xn--mnchen-3ya.example', 'xn--zz.example', 'www.xn--.example'].map(normalHostName)).toEqual([
    'xn--mnchen-3ya.example',
    undefined,
    undefined,
  ])
  expect(normalName('MÜNCHEN.Example.')).toBe('xn--mnchen-3ya.example')
  for (const bad of ['', '.', 'a..b', '-a', 'a-', 'a b', 'a/b', 'ü'.repeat(64)]) expect(normalName(bad)).toBeUndefined()
  expect(normalHostName(' www.example.com. ')).toBe('www.example.com')
  for (const bad of ['localhost', '192.0.2.1', '1.2.3.4.5', 'a_b.example.com', '[::1]', 'https://example.com'])
    expect([bad, normalHostName(bad)]).toEqual([bad, undefined])
})

test('the zone of a host name is its registrable domain, by the public suffix list', () => {
  const zones = ['www.example.com', 'example.co.uk', 'a.b.example.co.uk', 'x.someone.github.io', 'a.test'].map(
    zoneNameOf,
  )
  expect(zones).toEqual(['example.com', 'example.co.uk', 'example.co.uk', 'someone.github.io', 'a.test'])
  expect(['co.uk', 'github.io', 'com'].map(zoneNameOf)).toEqual([undefined, undefined, undefined])
})

describe('two SPF records are merged into one', () => {
  test.each([
    ['v=spf1 include:a.test ~all', 'v=spf1 include:b.test -all', 'v=spf1 include:a.test include:b.test -all'],
    ['v=spf1 include:a.test -all', 'v=spf1 include:a.test ~all', 'v=spf1 include:a.test -all'],
    ['v=spf1 mx all', 'v=spf1 ?all', 'v=spf1 mx ?all'],
    ['v=spf1 redirect=_spf.test', 'v=spf1 include:b.test ~all', 'v=spf1 include:_spf.test include:b.test ~all'],
    ['v=spf1 redirect=_spf.test', 'v=spf1 include:b.test', 'v=spf1 include:b.test redirect=_spf.test'],
    ['v=spf1 redirect=a.test', 'v=spf1 redirect=b.test', 'v=spf1 include:a.test include:b.test'],
    ['V=SPF1 IP4:192.0.2.0/24 -ALL', 'v=spf1 ip4:192.0.2.0/24', 'v=spf1 IP4:192.0.2.0/24 -all'],
  ])('%s + %s', (first, second, merged) => {
    expect(mergedSpf(first, second)).toBe(merged)
    expect(mergedSpf(merged, second)).toBe(merged)
  })
})

test.each([
  ['A', '192.0.2.1', ' 192.0.2.1 ', null],
  ['A', '192.0.2.1', undefined, null],
  ['AAAA', '2001:db8::1', '2001:DB8::1', '2001:DB8::1'],
  ['CNAME', 'a.example', 'a.example', null],
  ['CNAME', 'a.example', 'a.example.', null],
  ['CNAME', 'a.example', 'A.example', 'A.example.'],
  ['CNAME', 'example.com', '@', null],
  ['MX', '', '.', null],
  ['TXT', '@', '"@"', '"@"'],
] as const)('%s: keeps %j with the words %j as %j', (type, value, given, kept) =>
  expect(asWritten({ type, value }, given)).toBe(kept),
)
