/** Tests which clients may have whole zones, in what form, and under which signature. */
import { createHmac } from 'node:crypto'
import packet from 'dns-packet'
import { describe, expect, it } from 'vitest'
import type { DnsClient } from '../responder.ts'
import {
  type Asking,
  decode,
  lines,
  messagesOf,
  nameservers,
  questionFor,
  responderOf,
  zonesOf,
} from '../test-support.ts'
import { readQuery } from '../wire/query.ts'
import { readTsig, Signer, type Tsig, verify } from '../wire/tsig.ts'
import { createCatalog } from '../zones/catalog.ts'
import { differenceTo, type EarlierSet } from '../zones/difference.ts'
import { transferRule } from './secondaries.ts'

const keys = new Map([
  ['key.test', Buffer.alloc(32, 7)],
  ['other.test', Buffer.alloc(32, 8)],
])
const NOW = 1_700_000_000_000
const many = Array.from({ length: 2000 }, (_, at) => `host${at} TXT ${'x'.repeat(250)}`)
const responder = responderOf(
  zonesOf({ 'example.test': ['www A 192.0.2.1'], 'large.test': [...many, `huge TXT ${'y'.repeat(40_000)}`] }),
  {
    keys,
    now: () => NOW,
    mayTransfer: transferRule([
      { host: '192.0.2.1', port: 53 },
      { host: '192.0.2.2', port: 53, keyName: 'key.test' },
    ]),
    catalog: () => createCatalog('catalog.invalid', 9, new Map([['example.test', 12]])),
  },
)
const first: DnsClient = { address: '192.0.2.1', transport: 'tcp' }
const second: DnsClient = { address: '192.0.2.2', transport: 'tcp' }

const replies = (message: Buffer, client: DnsClient = first): Promise<Buffer[]> =>
  messagesOf(responder.respond(message, client))
const axfr = (name = 'example.test', asking: Asking = {}) => questionFor(name, { type: 'AXFR', ...asking })
const recordsOf = (messages: readonly Buffer[]) => messages.flatMap((message) => decode(message).answers ?? [])
const whole = ['SOA', 'A', 'NS', 'NS', 'SOA']

describe('a whole zone', () => {
  it('begins and ends with its SOA', async () => {
    const messages = await replies(axfr())
    expect(recordsOf(messages).map(({ type }) => type)).toEqual(whole)
    expect(decode(messages[0])).toMatchObject({ id: 4711, flag_aa: true, rcode: 'NOERROR' })
  })

  it('has every record once in many messages, each below 64 kB', async () => {
    const messages = await replies(axfr('large.test'))
    expect(messages.length).toBeGreaterThan(30)
    expect(messages.every((message) => message.length < 65_536)).toBe(true)
    const texts = recordsOf(messages).filter(({ type }) => type === 'TXT')
    expect(new Set(texts.map(({ name }) => name)).size).toBe(2001)
    expect(texts).toHaveLength(2001)
  })

  it.each([
    ['from another address', axfr(), { address: '192.0.2.3', transport: 'tcp' }, 'REFUSED'],
    ['of no zone', axfr('www.example.test'), first, 'NOTAUTH'],
    ['over UDP', axfr(), { address: '192.0.2.1', transport: 'udp' }, 'FORMERR'],
    ['without the signature that the address needs', axfr(), second, 'REFUSED'],
  ] as const)('is not sent: %s', async (_what, message, client, rcode) => {
    const [answer, ...more] = await replies(message, client)
    expect(more).toEqual([])
    expect(decode(answer)).toMatchObject({ rcode, answers: [] })
  })

  it('is sent to an IPv4 client of an IPv6 socket', async () => {
    expect(await replies(axfr(), { ...first, address: '::ffff:192.0.2.1' })).toHaveLength(1)
    expect(recordsOf(await replies(axfr(), { ...first, address: '::ffff:192.0.2.1' }))).toHaveLength(5)
  })
})

describe('changes (IXFR)', () => {
  const ixfr = (serial: number, name = 'example.test') =>
    packet.encode({
      type: 'query',
      id: 4711,
      questions: [{ type: 'IXFR' as 'A', name }],
      authorities: [{ type: 'SOA', name, data: { mname: 'a.test', rname: 'b.test', serial } }],
    })
  const soa = (serial: number) =>
    `example.test SOA ns1.servers.test hostmaster.example.test ${serial} 14400 3600 1209600 300`
  const address = (value: string) => ({ value, priority: null, weight: null, port: null, ttl: 300 })

  it('are the whole zone for an unknown version, or only the SOA for the current one', async () => {
    expect(recordsOf(await replies(ixfr(6))).map(({ type }) => type)).toEqual(whole)
    expect(recordsOf(await replies(ixfr(7))).map(({ type }) => type)).toEqual(['SOA'])
  })

  it('are only the SOA over UDP: use TCP', async () => {
    expect(recordsOf(await replies(ixfr(6), { ...first, transport: 'udp' })).map(({ type }) => type)).toEqual(['SOA'])
  })

  describe('since a known version', () => {
    const zones = zonesOf({
      'example.test': ['www A 192.0.2.1', ...Array.from({ length: 20 }, (_, at) => `h${at} A 192.0.2.2`)],
    })
    const since = (earlier: readonly EarlierSet[]) =>
      responderOf(zones, {
        keys,
        mayTransfer: () => true,
        difference: async (zone, serial) =>
          serial === 5 ? differenceTo(zone, serial, earlier, { nameservers }) : undefined,
      })
    const told = async (...earlier: EarlierSet[]) =>
      lines(recordsOf(await messagesOf(since(earlier).respond(ixfr(5), first))))

    it('are the removed and the added records, between the serials of both versions', async () => {
      expect(await told({ name: 'www', type: 'A', records: [address('192.0.2.9')] })).toEqual([
        ...[soa(7), soa(5), 'www.example.test A 192.0.2.9'],
        ...[soa(7), 'www.example.test A 192.0.2.1', soa(7)],
      ])
    })

    it('combine several changes of one set, and omit a reverted one', async () => {
      const first = { name: 'www', type: 'A', records: [address('192.0.2.1')] }
      const second = { name: 'www', type: 'A', records: [address('192.0.2.1'), address('192.0.2.5')] }
      expect(await told(first, second, { name: 'gone', type: 'MX', records: [] })).toEqual([
        soa(7),
        soa(5),
        soa(7),
        soa(7),
      ])
    })

    it('include a record whose TTL changed', async () => {
      const earlier = { name: 'www', type: 'A', records: [{ ...address('192.0.2.1'), ttl: 60 }] }
      expect(await told(earlier)).toHaveLength(6)
    })

    it('include name servers of the settings when those of the zone are removed', async () => {
      const earlier = { name: '', type: 'NS', records: [address('ns.own.test')] }
      expect(await told(earlier)).toEqual([
        ...[soa(7), soa(5), 'example.test NS ns.own.test'],
        ...[soa(7), 'example.test NS ns1.servers.test', 'example.test NS ns2.servers.test', soa(7)],
      ])
    })

    it('are the whole zone if that is smaller', async () => {
      const records = Array.from({ length: 30 }, (_, at) => address(`192.0.2.${at}`))
      const types = recordsOf(await messagesOf(since([{ name: 'www', type: 'A', records }]).respond(ixfr(5), first)))
      expect(types.map(({ type }) => type).filter((type) => type === 'SOA')).toHaveLength(2)
      expect(types).toHaveLength(25)
    })

    it('are refused to others, and signed like the whole zone', async () => {
      const earlier = [{ name: 'www', type: 'A', records: [] }]
      const refusing = responderOf(zones, {
        difference: async () => {
          throw new Error('asked')
        },
      })
      expect(decode(refusing.respond(ixfr(5), first)).rcode).toBe('REFUSED')
      const signer = new Signer(keys, { keyName: 'key.test' })
      const [answer] = await messagesOf(since(earlier).respond(signer.sign(ixfr(5), Date.now()), first))
      expect(decode(answer).answers).toHaveLength(5)
      expect((answer as Buffer).readUInt16BE(10)).toBe(1)
    })
  })
})

describe('the catalog (RFC 9432)', () => {
  it('is for secondaries only', async () => {
    expect(lines(recordsOf(await replies(axfr('catalog.invalid'))))).toEqual([
      'catalog.invalid SOA invalid hostmaster.catalog.invalid 9 14400 3600 1209600 300',
      'catalog.invalid NS invalid',
      'version.catalog.invalid TXT 2',
      'z12.zones.catalog.invalid PTR example.test',
      'catalog.invalid SOA invalid hostmaster.catalog.invalid 9 14400 3600 1209600 300',
    ])
    const soa = questionFor('catalog.invalid', { type: 'SOA' })
    expect(decode((await replies(soa))[0]).answers).toHaveLength(1)
    expect(decode((await replies(soa, second))[0])).toMatchObject({ rcode: 'REFUSED', answers: [] })
  })
})

describe('signatures (TSIG, RFC 8945)', () => {
  const signedBy = (keyName: string, message: Buffer, nowMs = NOW, under = keys) => {
    const signer = new Signer(under, { keyName })
    const signed = signer.sign(message, nowMs)
    return { signed, mac: signer.mac as Buffer }
  }
  /** Returns the signature at the end of an answer, as a client parses it. */
  const tsigOf = (answer: Buffer): Tsig => {
    const question = Buffer.from(answer)
    question.writeUInt16BE(question.readUInt16BE(2) & 0x7fff, 2)
    const tsig = readQuery(question)?.tsig as Tsig
    tsig.signed.writeUInt16BE(answer.readUInt16BE(2), 2)
    return tsig
  }

  it('give access when they are valid for the address, and the answer is signed', async () => {
    const { signed, mac } = signedBy('key.test', axfr())
    const [answer] = await replies(signed, second)
    expect(recordsOf([answer as Buffer])).toHaveLength(5)
    const tsig = tsigOf(answer as Buffer)
    expect(verify(tsig, keys, NOW, mac).error).toBe(0)
    expect(verify(tsig, keys, NOW, Buffer.alloc(32)).error).toBe(16)
    for (const bytes of [0, 10, 31])
      expect(verify({ ...tsig, mac: tsig.mac.subarray(0, bytes) }, keys, NOW, mac).error).toBe(16)
    expect(verify({ ...tsig, signed: Buffer.concat([tsig.signed, Buffer.alloc(1)]) }, keys, NOW, mac).error).toBe(16)
  })

  it('are in every message of a long answer', async () => {
    const messages = await replies(signedBy('key.test', axfr('large.test')).signed, second)
    expect(messages.length).toBeGreaterThan(30)
    const [one, next] = messages.map(tsigOf) as [Tsig, Tsig]
    expect(messages.every((message) => tsigOf(message).mac.length === 32)).toBe(true)
    // RFC 8945 §5.3.1: from the second message on, over the previous signature, the message, and only the time.
    const time = Buffer.alloc(8)
    time.writeUIntBE(next.timeSeconds, 0, 6)
    time.writeUInt16BE(next.fudgeSeconds, 6)
    const hmac = createHmac('sha256', keys.get('key.test') as Buffer)
    hmac
      .update(Buffer.from([0, 32]))
      .update(one.mac)
      .update(next.signed)
      .update(time)
    expect(next.mac).toEqual(hmac.digest())
  })

  it('of another known key give no access', async () => {
    expect(decode((await replies(signedBy('other.test', axfr()).signed, second))[0]).rcode).toBe('REFUSED')
  })

  it.each([
    [
      'an unknown key',
      () => signedBy('new.test', axfr(), NOW, new Map([['new.test', Buffer.alloc(32)]])).signed,
      17,
      0,
    ],
    [
      'another secret',
      () => signedBy('key.test', axfr(), NOW, new Map([['key.test', Buffer.alloc(32)]])).signed,
      16,
      0,
    ],
    ['a time long ago', () => signedBy('key.test', axfr(), NOW - 400_000).signed, 18, 32],
  ])(
    'get NOTAUTH with the reason for %s, signed only if the client is trusted',
    async (_what, message, error, macBytes) => {
      const [answer] = await replies(message(), second)
      expect(decode(answer)).toMatchObject({ rcode: 'NOTAUTH', answers: [] })
      expect(tsigOf(answer as Buffer).mac).toHaveLength(macBytes)
      const fields = (answer as Buffer).subarray(error === 18 ? -10 : -4)
      expect(fields.readUInt16BE(0)).toBe(error)
    },
  )

  it('are an error unless they are the last record', async () => {
    const { signed } = signedBy('key.test', axfr())
    const more = Buffer.concat([signed, Buffer.from([0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0])])
    more.writeUInt16BE(2, 10)
    expect(decode((await replies(more))[0]).rcode).toBe('FORMERR')
  })

  it('are ignored when they are incomplete', () => {
    expect(readTsig(Buffer.alloc(40), { start: 0, name: '', head: 1, data: 11, end: 20 })).toBeUndefined()
  })
})
