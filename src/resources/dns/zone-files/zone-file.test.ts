import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../../test/support/api.ts'
import { dialects } from '../../../../test/support/database.ts'
import { readRecord } from '../records/read-record.ts'
import type { DnsRecord } from '../records/record.ts'
import { insertZone } from '../zone.store.ts'
import { readZoneFile, recordInput, writeZoneFile } from './zone-file.ts'

const file = `$TTL 1h30m
@ IN SOA ns1 hostmaster (
   1 ; serial
   2h 3h 4w 1d )
  IN NS ns1.other.net.
www 300 IN A 192.0.2.1
    IN 400 A 192.0.2.2
mail IN MX 10 mx
a.example.com. TXT "v=x; y" "and \\" z" ; a comment
long IN TXT ( "part one "
  "part two" )
_sip._tcp 60 SRV 1 2 5060 sip
*.w CNAME @
$ORIGIN Sub.example.com.
x A 192.0.2.9
y CNAME z
`

test('reads a file as BIND writes it: origins, blank names, parentheses, times, comments', () => {
  const short = readZoneFile(file, 'example.com').entries.map(({ line, name, ttl, type, words }) => [
    ...[line, name, ttl, type],
    words.join(' '),
  ])
  expect(short).toEqual([
    [2, 'example.com', 5400, 'SOA', 'ns1 hostmaster 1 2h 3h 4w 1d'],
    [5, 'example.com', 5400, 'NS', 'ns1.other.net'],
    [6, 'www.example.com', 300, 'A', '192.0.2.1'],
    [7, 'www.example.com', 400, 'A', '192.0.2.2'],
    [8, 'mail.example.com', 5400, 'MX', '10 mx.example.com'],
    [9, 'a.example.com', 5400, 'TXT', '"v=x; y" "and \\" z"'],
    [10, 'long.example.com', 5400, 'TXT', '"part one " "part two"'],
    [12, '_sip._tcp.example.com', 60, 'SRV', '1 2 5060 sip.example.com'],
    [13, '*.w.example.com', 5400, 'CNAME', 'example.com'],
    [15, 'x.sub.example.com', 5400, 'A', '192.0.2.9'],
    [16, 'y.sub.example.com', 5400, 'CNAME', 'z.sub.example.com'],
  ])
})

test.each([
  ['$INCLUDE other', 1, '$INCLUDE is not supported'],
  ['$GENERATE 1-9 a$ A 192.0.2.$', 1, '$GENERATE is not supported'],
  ['a A 1\n)', 2, 'a bracket without its other one'],
  ['a TXT ( x\n(', 1, 'a bracket without its other one'],
  ['a TXT "x', 1, 'a quote without its other one'],
  [' A 192.0.2.1', 1, 'it has no name'],
  ['\na', 2, 'it has no type'],
  ['a CH TXT x', 1, 'the class CH is not supported'],
  ['$TTL soon', 1, '$TTL is not a valid time'],
])('%j: skips line %d, %s, and reads the next one', (text, line, reason) => {
  const { entries, leftOut } = readZoneFile(`${text}\nnext A 192.0.2.9\n`, 'example.com')
  expect(leftOut).toEqual([{ line, text: expect.any(String), reason }])
  expect(entries.at(-1)).toMatchObject({ name: 'next.example.com', words: ['192.0.2.9'] })
})

test.each([
  ['a A 1\n(\nb A 2', 'line 2: a bracket without its other one'],
  ['$ORIGIN\na A 1', 'line 1: $ORIGIN names nothing'],
  ['a A 1\n'.repeat(5001), 'line 5001: a file may have 5000 entries'],
  ['"\n'.repeat(5001), 'line 5001: this is not a zone file'],
])('%j: rejects it, because the lines after it would change their meaning', (text, fault) => {
  expect(() => readZoneFile(text, 'example.com')).toThrow(fault)
})

test('splits a text into parts of at most 255 bytes, as long as possible, with whole characters', () => {
  const partsOf = (value: string) => {
    const blank = { id: 1, zoneId: 1, siteId: null, createdAt: 0, isPrimary: false, weight: null, port: null }
    const record = { ...blank, name: 'a', type: 'TXT', ttl: 60, priority: null, value } as unknown as DnsRecord
    return [...writeZoneFile('example.com', [record]).matchAll(/"([^"]*)"/g)].map(([, part]) => part?.length)
  }
  expect(partsOf('short')).toEqual([5])
  expect(partsOf('x'.repeat(255))).toEqual([255])
  expect(partsOf('x'.repeat(256))).toEqual([255, 1])
  // Two bytes each.
  expect(partsOf('ü'.repeat(200))).toEqual([127, 73])
})

test('reads back what it writes, whatever a text contains', () => {
  const blank = { id: 1, zoneId: 1, siteId: null, createdAt: 0, isPrimary: false, weight: null, port: null }
  const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 600 })
  fc.assert(
    fc.property(text, fc.integer({ min: 0, max: 2 ** 31 - 1 }), (value, ttl) => {
      const read = readRecord({ type: 'TXT', value: JSON.stringify(value), ttl }, 'example.com')
      if ('faults' in read) return
      const record = { ...blank, ...read.record, ttl } as DnsRecord
      const [entry] = readZoneFile(writeZoneFile('example.com', [record]), 'example.com').entries
      expect(entry).toBeDefined()
      expect(readRecord(recordInput(entry as NonNullable<typeof entry>), 'example.com')).toMatchObject({
        record: { type: 'TXT', name: '', value: record.value, ttl },
      })
    }),
    { numRuns: 300 },
  )
})

test.each([
  [String.raw`"M\195\188ller"`, 'Müller'],
  [String.raw`v=DMARC1\;p=none`, 'v=DMARC1;p=none'],
  [String.raw`"a\"b\\195" "\065"`, String.raw`a"b\195A`],
  ['bare words', 'barewords'],
  [String.raw`"\195"`, undefined],
  [String.raw`"\256"`, undefined],
])('reads the text %s of a file as %s (RFC 1035 §5.1)', (text, value) => {
  const [entry] = readZoneFile(`a TXT ${text}\n`, 'example.com').entries
  const read = readRecord(recordInput(entry as NonNullable<typeof entry>), 'example.com')
  if (value === undefined) expect(read).toEqual({ faults: ['value: must be text in UTF-8'] })
  else expect(read).toMatchObject({ record: { value } })
})

test('reads hostile files in one pass', () => {
  for (const text of [
    '(\n'.repeat(100_000),
    `a A (\n${'x\n'.repeat(100_000)})`,
    '"'.repeat(200_000),
    '\\'.repeat(200_000),
  ])
    expect(() => readZoneFile(text, 'example.com').entries.length, text.slice(0, 9)).toSatisfy((read: () => number) => {
      try {
        return read() >= 0
      } catch (error) {
        return (error as Error).name === 'ZoneFileFault'
      }
    })
})

describe.each(dialects)('zone files by the API on $dialect', ({ dialect, skip }) => {
  if (skip) return void test.skip('no server', () => {})
  let api: TestApi
  let owner: Person
  beforeAll(async () => {
    api = await testApi(dialect)
    owner = await api.person('owner@example.com')
  })
  afterAll(() => api?.close())

  const zone = (name: string) =>
    api.database.transaction(async (tx) => (await insertZone(tx, owner.accountId, name, 1)).id)
  const put = (id: number, text: string) => owner.call('PUT', `/v1/zones/${id}/file`, { file: text, strict: true })
  const take = (id: number, text: string) => owner.call('PUT', `/v1/zones/${id}/file`, { file: text })
  const preview = (id: number, text: string) => owner.call('POST', `/v1/zones/${id}/file/preview`, { file: text })
  const get = async (id: number): Promise<string> => (await owner.call('GET', `/v1/zones/${id}/file`)).body.data
  const recordsOf = async (id: number) => (await owner.call('GET', `/v1/zones/${id}/records`)).body.data.records

  test('200: reads a file, changes nothing when it is repeated, and reads its own file elsewhere as the same', async () => {
    const id = await zone('example.com')
    const { status, body } = await put(id, file.replace('400 A', '300 A'))
    expect([status, body.errors]).toEqual([200, null])
    expect(body.data.records).toHaveLength(9)
    const text = await get(id)
    await put(id, text)
    expect(await get(id)).toBe(text)
    const second = await zone('second.example')
    await put(second, text.replaceAll('example.com', 'second.example'))
    expect(await get(second)).toBe(text.replaceAll('example.com', 'second.example'))
  })

  test('400: a strict import names every faulty line, and adds nothing of the file', async () => {
    const id = await zone('faults.test')
    const { status, body } = await put(
      id,
      'a A 192.0.2.1\nb A nowhere\nc CNAME a\nc TXT x\nd MX 1.5 mail\ne.other.test. A 192.0.2.1\n@ PTR x\na 60 A 192.0.2.2\n',
    )
    expect(status).toBe(400)
    expect(body.errors).toEqual([
      'file: line 2: value: must be an IPv4 address',
      'file: line 4: Other records conflict with this one: c is an alias (CNAME) of a.faults.test and cannot have other records.',
      'file: line 5: priority: must be from 0 to 65535',
      'file: line 6: name: must end with faults.test if it ends with a dot',
      'file: line 7: type: must be one of A, AAAA, CNAME, MX, TXT, SRV, NS, CAA, HTTPS, TLSA, SSHFP',
      'file: line 8: ttl: must be 3600, like the other A records of a (RFC 2181)',
    ])
    expect((await put(id, 'a A x\n'.repeat(60))).body.errors).toHaveLength(50)
    // A class and a time, once each.
    expect((await put(id, 'a 60 IN 60 A 192.0.2.1')).body.errors).toEqual([
      'file: line 1: type: must be one of A, AAAA, CNAME, MX, TXT, SRV, NS, CAA, HTTPS, TLSA, SSHFP',
    ])
    expect((await put(id, 'a TXT "x')).body.errors).toEqual(['file: line 1: a quote without its other one'])
    expect(await recordsOf(id)).toEqual([])
  })

  test('200: merges two SPF records of the file into the existing one', async () => {
    const id = await zone('spf.test')
    await put(id, '@ TXT "v=spf1 include:a.test ~all"\n@ TXT "v=spf1 include:b.test -all"\n')
    await put(id, '@ TXT "v=spf1 include:c.test ?all"\n')
    expect((await recordsOf(id)).map(({ value }: { value: string }) => value)).toEqual([
      'v=spf1 include:a.test include:b.test include:c.test -all',
    ])
  })

  /** A file from another provider, with its own types, and records that are invalid at the apex. */
  const foreign = `$ORIGIN taken.test.
$TTL 300
@ IN SOA ns.other.net. root.other.net. 1 2 3 4 5
@ IN NS ns.other.net.
@ IN ALIAS shops.other.net.
@ IN CNAME shops.other.net.
www IN A 192.0.2.1
a IN LOC 52 22 23.000 N 4 53 32.000 E -2.00m
@ IN HTTPS 1 . alpn="h2,h3" ipv4hint=192.0.2.1 port=8443
_25._tcp.mail IN TLSA 3 1 1 ( ${'0a'.repeat(16)}
  ${'0B'.repeat(16)} )
host IN SSHFP 4 2 ${'0c'.repeat(32)}
b IN TXT "unfinished
c IN TXT "whole"
`

  test('200: accepts a file with foreign lines: a preview says what is added and what not, and the import does that', async () => {
    const id = await zone('taken.test')
    const { status, body } = await preview(id, foreign)
    expect([status, body.errors]).toEqual([200, null])
    expect(body.data.leftOut).toEqual([
      {
        line: 3,
        text: 'taken.test. SOA ns.other.net. root.other.net. 1 2 3 4 5',
        reason: 'Stead answers with its own SOA record',
      },
      { line: 4, text: 'taken.test. NS ns.other.net', reason: 'Stead answers with its own NS record' },
      {
        line: 5,
        text: expect.stringContaining('ALIAS'),
        reason: expect.stringContaining('ALIAS is not a DNS type. Use an A record'),
      },
      {
        line: 6,
        text: expect.stringContaining('CNAME'),
        reason: expect.stringContaining('a name with a CNAME cannot have other records'),
      },
      { line: 8, text: expect.stringContaining('LOC'), reason: expect.stringContaining('type: must be one of A,') },
      { line: 13, text: 'b IN TXT unfinished', reason: 'a quote without its other one' },
    ])
    expect(
      body.data.taken.map(({ line, type, value, isNew }: Record<string, unknown>) => [line, type, value, isNew]),
    ).toEqual([
      [7, 'A', '192.0.2.1', true],
      [9, 'HTTPS', '1 . alpn=h2,h3 port=8443 ipv4hint=192.0.2.1', true],
      [10, 'TLSA', `3 1 1 ${'0a'.repeat(16)}${'0b'.repeat(16)}`, true],
      [12, 'SSHFP', `4 2 ${'0c'.repeat(32)}`, true],
      [14, 'TXT', 'whole', true],
    ])
    expect(await recordsOf(id)).toEqual([])
    expect((await put(id, foreign)).status).toBe(400)
    expect(await recordsOf(id)).toEqual([])
    const imported = await take(id, foreign)
    expect([imported.status, imported.body.data.leftOut]).toEqual([200, body.data.leftOut])
    expect(imported.body.data.records).toHaveLength(5)
    const again = (await preview(id, foreign)).body.data.taken
    expect(again.map(({ isNew }: { isNew: boolean }) => isNew)).toEqual([false, false, false, false, false])
    // Exported and imported again.
    const text = await get(id)
    expect((await put(id, text)).status).toBe(200)
    expect(await get(id)).toBe(text)
  })

  test('400: for a file of which nothing can be added', async () => {
    const id = await zone('nothing.test')
    expect((await take(id, 'a LOC x\nb WKS y\n')).body.errors).toHaveLength(2)
  })
})
