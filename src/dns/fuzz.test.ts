/**
 * Tests that any input gets either no answer or one that can be parsed. Set `DNS_FUZZ_MESSAGES=1000000` for a long run.
 */
import packet from 'dns-packet'
import { expect, it } from 'vitest'
import { seeded } from '../../test/support/seeded.ts'
import type { Responder } from './responder.ts'
import { decode, messagesOf, questionFor, responderOf, zonesOf } from './test-support.ts'
import { Signer } from './wire/tsig.ts'

const MESSAGES = Number(process.env.DNS_FUZZ_MESSAGES ?? 20_000)

const keys = new Map([['key', Buffer.alloc(32, 7)]])
const zones = zonesOf({
  'example.test': [
    'www A 192.0.2.1',
    '*.w CNAME www.example.test',
    'sub NS ns.sub.example.test',
    'ns.sub A 192.0.2.2',
    '@ MX www.example.test',
  ],
})
const ofNothing = responderOf(zones, { keys, mayTransfer: () => true })

const seeds = [
  questionFor('www.example.test'),
  questionFor('x.w.example.test', { type: 'ANY', edns: {} }),
  questionFor('x.sub.example.test', { edns: { options: [{ code: 10, data: Buffer.alloc(24) }] } }),
  questionFor('example.test', { type: 'AXFR' }),
  new Signer(keys, { keyName: 'key' }).sign(questionFor('example.test', { type: 'IXFR' }), Date.now()),
  packet.encode({
    type: 'query',
    id: 1,
    questions: [{ type: 'IXFR' as 'A', name: 'example.test' }],
    authorities: [{ type: 'SOA', name: 'example.test', data: { mname: 'a', rname: 'b', serial: 7 } }],
  }),
]

async function answered(responder: Responder, message: Buffer): Promise<void> {
  for (const transport of ['udp', 'tcp'] as const) {
    const reply = responder.respond(message, { address: '192.0.2.1', transport })
    for (const each of await messagesOf(reply)) {
      expect(each.readUInt16BE(0)).toBe(message.readUInt16BE(0))
      expect(each.length).toBeLessThanOrEqual(transport === 'udp' ? 1232 : 65_535)
      expect(decode(each).type).toBe('response')
    }
  }
}

it(`survives ${MESSAGES} damaged or random messages`, async () => {
  const chance = seeded(20_261_123)
  const below = (most: number) => Math.floor(chance.next() * most)
  for (let index = 0; index < MESSAGES; index++) {
    const isNoise = below(10) === 0
    let message = isNoise
      ? Buffer.from(Array.from({ length: below(200) }, () => below(256)))
      : Buffer.from(seeds[below(seeds.length)] as Buffer)
    for (let times = below(6); times > 0 && message.length > 0; times--) {
      const at = below(message.length)
      const way = below(4)
      if (way === 0) message[at] = below(256)
      if (way === 1) message[at] = 0xc0 | below(64)
      if (way === 2) message = message.subarray(0, at)
      if (way === 3) message = Buffer.concat([message.subarray(0, at), message.subarray(below(message.length))])
    }
    try {
      await answered(ofNothing, message)
    } catch (error) {
      throw new Error(`message ${index}: ${message.toString('hex')}`, { cause: error })
    }
  }
})
