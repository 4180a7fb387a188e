/** Tests that an earlier answer is reused as long as it is true, and only for clients that may have it. */
import { describe, expect, it } from 'vitest'
import { AnswerCache } from './answer-cache.ts'
import { makePrivateKey, zoneKey } from './signing/signing-key.ts'
import { SigningTime } from './signing/signing-time.ts'
import { type Asking, decode, lines, nameservers, questionFor, recordOf, responderOf, zonesOf } from './test-support.ts'
import { createCatalog } from './zones/catalog.ts'
import { createZone } from './zones/zone.ts'

const client = { address: '192.0.2.1', transport: 'udp' as const }
const name = 'example.test'

describe('the same question', () => {
  it('gets the same answer except for its id, in a separate buffer', () => {
    const responder = responderOf(zonesOf({ [name]: ['www A 192.0.2.1'] }))
    const ask = (id: number) => {
      const question = questionFor('WwW.example.test')
      question.writeUInt16BE(id, 0)
      return responder.respond(question, client) as Buffer
    }
    const [first, second, third] = [ask(1), ask(2), ask(0xffff)]
    expect([first, second, third].map((each) => each.readUInt16BE(0))).toEqual([1, 2, 0xffff])
    expect(second.subarray(2)).toEqual(first.subarray(2))
    expect(third.toString('latin1')).toContain('WwW')
  })

  it.each([
    ['in other letters', {}, 'www.Example.test'],
    ['with EDNS', { edns: {} }, 'www.example.test'],
    ['of another type', { type: 'TXT' }, 'www.example.test'],
    ['that wants recursion', { flags: 0x0100 }, 'www.example.test'],
  ] as [string, Asking, string][])('does not include one %s', (_what, asking, asked) => {
    const zones = zonesOf({ [name]: ['www A 192.0.2.1'] })
    const kept = responderOf(zones)
    kept.respond(questionFor('www.example.test'), client)
    expect(kept.respond(questionFor(asked, asking), client)).toEqual(
      responderOf(zones).respond(questionFor(asked, asking), client),
    )
  })

  it('gets another answer when the zone has changed, is gone, or a zone below it was added', () => {
    const zones = zonesOf({ [name]: ['www.a A 192.0.2.1'] })
    const responder = responderOf(zones)
    const ask = () => decode(responder.respond(questionFor('www.a.example.test'), client))
    const put = (zone: string, record: string) =>
      zones.put(createZone({ name: zone, serial: 8, records: [recordOf(record)] }, { nameservers }))
    expect(lines(ask().answers)).toEqual(['www.a.example.test A 192.0.2.1'])
    put(name, 'www.a A 192.0.2.2')
    expect(lines(ask().answers)).toEqual(['www.a.example.test A 192.0.2.2'])
    put('a.example.test', 'www A 192.0.2.3')
    expect(lines(ask().answers)).toEqual(['www.a.example.test A 192.0.2.3'])
    zones.remove('a.example.test')
    zones.remove(name)
    expect(ask().rcode).toBe('REFUSED')
  })

  it('checks the client each time when it is for the catalog', () => {
    const catalog = createCatalog('catalog.invalid', 9, new Map())
    const mayTransfer = (address: string) => address === '192.0.2.1'
    const responder = responderOf(zonesOf({}), { catalog: () => catalog, mayTransfer })
    const ask = (address: string) =>
      decode(responder.respond(questionFor('catalog.invalid', { type: 'SOA' }), { ...client, address })).rcode
    expect(['192.0.2.1', '192.0.2.2', '192.0.2.1'].map(ask)).toEqual(['NOERROR', 'REFUSED', 'NOERROR'])
  })

  it('is not cached with a cookie, whose answer belongs to one client', () => {
    const responder = responderOf(zonesOf({ [name]: ['www A 192.0.2.1'] }))
    const question = questionFor('www.example.test', { edns: { options: [{ code: 10, data: Buffer.alloc(8, 1) }] } })
    const [first, second] = ['192.0.2.1', '192.0.2.2'].map((address) =>
      responder.respond(question, { ...client, address }),
    )
    expect(second).not.toEqual(first)
  })
})

it('the cache is limited, and keeps answers that are soon needed again', () => {
  const cache = new AnswerCache()
  const answer = { message: Buffer.alloc(20), rcode: 0, countedAs: '', version: 1, atMs: 0 }
  cache.put('first', answer)
  for (let at = 0; at < 4096; at++) cache.put(`${at}`, answer)
  expect(cache.find('first', 1, 0)).toBe(answer)
  for (let at = 0; at < 9000; at++) cache.put(`more ${at}`, answer)
  expect(cache.find('first', 1, 0)).toBeUndefined()
  expect(cache.find('more 8999', 1, 3_599_999)).toBe(answer)
  expect(cache.find('more 8999', 1, 3_600_000)).toBeUndefined()
  expect(cache.find('more 8999', 1, -1)).toBeUndefined()
  expect(cache.find('more 8999', 2, 0)).toBeUndefined()
  expect(AnswerCache.keyOf(Buffer.alloc(321))).toBeUndefined()
})

describe('proofs for names that clients make up', () => {
  let clockMs = 0
  const key = zoneKey(makePrivateKey(), 'active')
  const zones = zonesOf({})
  const records = ['www A 192.0.2.1', '*.wild A 192.0.2.2'].map(recordOf)
  zones.put(createZone({ name, serial: 7, records, openKeys: () => [key] }, { nameservers }))
  const edns = { flags: 0x8000 }

  /** Advances the clock by 10 ms for each reading, which is how long a proof takes. */
  const responder = () => {
    const signingTime = new SigningTime(() => (clockMs += 10))
    const over = responderOf(zones, { signingTime })
    return (asked: string, transport: 'udp' | 'tcp' = 'udp', asking: Asking = { edns }) => {
      const answer = over.respond(questionFor(asked, asking), { address: '192.0.2.1', transport }) as Buffer
      const { rcode, authorities = [] } = decode(answer)
      return answer.readUInt16BE(2) & 0x0200 ? 'ask over TCP' : `${rcode} ${authorities.length}`
    }
  }

  it.each(['example.test', 'wild.example.test'])('below %s stop when their share of the time is used up', (below) => {
    const ask = responder()
    const answers = (transport: 'udp' | 'tcp') =>
      Array.from({ length: 300 }, (_, at) => ask(`made-up-${at}.${below}`, transport))
    const overUdp = answers('udp')
    expect(overUdp[0]).toMatch(/^NOERROR/)
    // A proof uses as much as returns in four times its duration, and each refusal advances the clock once.
    expect(overUdp.slice(100).filter((answer) => answer === 'ask over TCP').length).toBeGreaterThan(100)
    // TCP has a separate share.
    const overTcp = answers('tcp')
    expect(overTcp.slice(0, 20).every((answer) => answer.startsWith('NOERROR'))).toBe(true)
    expect(overTcp.slice(100).filter((answer) => answer === 'SERVFAIL 0').length).toBeGreaterThan(100)
  })

  it('take nothing from questions for existing names or without proofs, and continue a time later', () => {
    const ask = responder()
    for (let at = 0; at < 100; at++) ask(`made-up-${at}.example.test`)
    expect(ask('www.example.test')).toBe('NOERROR 0')
    expect(ask('plain.example.test', 'udp', {})).toBe('NXDOMAIN 1')
    expect([1, 2, 3].map((at) => ask(`again-${at}.example.test`))).toContain('ask over TCP')
    clockMs += 4000
    expect(ask('made-up.example.test')).toMatch(/^NOERROR/)
  })
})
