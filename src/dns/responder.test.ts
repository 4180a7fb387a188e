import packet from 'dns-packet'
import { describe, expect, it } from 'vitest'
import { createAnswerLimit, networkOf } from './answer-limit.ts'
import {
  type Asking,
  ask,
  decode,
  lines,
  type Message,
  questionFor,
  responderOf,
  secret,
  zonesOf,
} from './test-support.ts'
import { Cookies } from './wire/cookies.ts'

const many = Array.from({ length: 60 }, (_, at) => `many A 192.0.2.${at + 1}`)
const zones = zonesOf({
  'example.test': [
    'www A 192.0.2.11',
    '*.wild A 192.0.2.5',
    ...many,
    ...Array.from({ length: 25 }, (_, at) => `some A 192.0.2.${at + 1}`),
    ...Array.from({ length: 40 }, (_, at) => [`@ MX m${at}.example.test`, `m${at} A 192.0.2.1`]).flat(),
    ...Array.from({ length: 40 }, (_, at) => [`sub NS n${at}.sub.example.test`, `n${at}.sub A 192.0.2.1`]).flat(),
  ],
})
const responder = responderOf(zones)
const client = { address: '192.0.2.1', transport: 'udp' as const }
const asked = (name: string, asking?: Asking) => responder.respond(questionFor(name, asking), client) as Buffer
const optOf = (answer: Message) =>
  answer.additionals?.find(({ type }) => type === 'OPT') as unknown as Record<string, unknown> & {
    options: { code: number; data: Buffer }[]
  }
const changed = (change: (message: Buffer) => void, message = questionFor('www.example.test')) => {
  change(message)
  return responder.respond(message, client) as Buffer | undefined
}

describe('EDNS (RFC 6891)', () => {
  it('is in answers only to clients that use it', () => {
    expect(optOf(ask(responder, 'www.example.test'))).toBeUndefined()
    expect(optOf(ask(responder, 'www.example.test', { edns: {} }))).toMatchObject({
      udpPayloadSize: 1232,
      ednsVersion: 0,
    })
  })

  it('gets BADVERS for a future version', () => {
    const answer = ask(responder, 'www.example.test', { edns: { ednsVersion: 1 } })
    expect(optOf(answer)).toMatchObject({ extendedRcode: 1, ednsVersion: 0 })
    expect(answer).toMatchObject({ rcode: 'NOERROR', answers: [] })
  })

  it('keeps DO in the answer (RFC 3225), but not unknown options', () => {
    const edns = { flags: packet.DNSSEC_OK, options: [{ code: 65_001, data: Buffer.from('x') }] }
    expect(optOf(ask(responder, 'www.example.test', { edns }))).toMatchObject({ flag_do: true, options: [] })
  })

  it('is an error when it occurs twice, has a name, or is in another section', () => {
    const opt = { type: 'OPT', name: '.', udpPayloadSize: 1232, flags: 0, options: [] }
    const question = { questions: [{ type: 'A' as const, name: 'www.example.test' }] }
    for (const records of [
      { additionals: [opt, opt] },
      { authorities: [opt] },
      { additionals: [{ type: 'NULL', name: 'x.test', data: Buffer.alloc(0) }] },
    ]) {
      const message = packet.encode({ ...question, ...records } as never)
      if (records.additionals?.length === 1) message.writeUInt16BE(41, message.length - 10)
      expect(decode(responder.respond(message, client) as Buffer).rcode).toBe('FORMERR')
    }
  })
})

describe('the size of an answer over UDP', () => {
  it.each([
    ['512 bytes without EDNS', 'some.example.test', undefined, false],
    ['512 bytes without EDNS', 'many.example.test', undefined, true],
    ['what the client takes', 'many.example.test', { udpPayloadSize: 900 }, true],
    ['1232 bytes for who takes more', 'many.example.test', { udpPayloadSize: 4096 }, false],
    ['512 bytes for who says less', 'some.example.test', { udpPayloadSize: 100 }, false],
  ])('is at most %s (%s)', (_what, name, edns, isCut) => {
    const bytes = asked(name, edns ? { edns } : {})
    expect(bytes.length).toBeLessThanOrEqual(edns ? Math.max(512, Math.min(1232, edns.udpPayloadSize)) : 512)
    const answer = decode(bytes)
    expect(answer.flag_tc).toBe(isCut)
    if (isCut) expect(answer.answers).toEqual([])
  })

  it('is not limited over TCP', () => {
    expect(ask(responder, 'many.example.test', { over: 'tcp' })).toMatchObject({ flag_tc: false })
    expect(ask(responder, 'many.example.test', { over: 'tcp' }).answers).toHaveLength(60)
  })

  it('leaves out useful addresses, but not those that a delegation needs (RFC 9471)', () => {
    const mail = ask(responder, 'example.test', { type: 'MX', edns: {} })
    expect(mail.flag_tc).toBe(false)
    expect(mail.answers).toHaveLength(40)
    expect(mail.additionals?.length).toBeLessThan(41)
    expect(ask(responder, 'x.sub.example.test', { edns: { udpPayloadSize: 1100 } })).toMatchObject({
      flag_tc: true,
      authorities: [],
    })
  })
})

describe('invalid messages', () => {
  it('get no answer if they are shorter than a header, or answers', () => {
    expect(responder.respond(Buffer.alloc(11), client)).toBeUndefined()
    expect(changed((message) => message.writeUInt16BE(0x8000, 2))).toBeUndefined()
  })

  it.each([
    ['another opcode (UPDATE)', (message: Buffer) => message.writeUInt16BE(5 << 11, 2), 4],
    ['NOTIFY', (message: Buffer) => message.writeUInt16BE(4 << 11, 2), 4],
    ['no question', (message: Buffer) => message.writeUInt16BE(0, 4), 1],
    ['two questions', (message: Buffer) => message.writeUInt16BE(2, 4), 1],
    ['an answer that is not there', (message: Buffer) => message.writeUInt16BE(1, 6), 1],
    ['a label that is too long', (message: Buffer) => message.writeUInt8(64, 12), 1],
    ['a pointer in the question', (message: Buffer) => message.writeUInt16BE(0xc000, 12), 1],
    ['a pointer to itself', (message: Buffer) => message.writeUInt16BE(0xc00c, 12), 1],
    ['another class', (message: Buffer) => message.writeUInt16BE(3, message.length - 2), 5],
    ['MAILB', (message: Buffer) => message.writeUInt16BE(253, message.length - 4), 4],
    ['OPT as a question', (message: Buffer) => message.writeUInt16BE(41, message.length - 4), 1],
  ])('get the right rcode: %s', (_what, change, rcode) => {
    const answer = changed(change) as Buffer
    expect(answer.readUInt16BE(0)).toBe(4711)
    expect(answer.readUInt16BE(2) & 0x840f).toBe(0x8000 | rcode)
    expect(answer.readUInt16BE(6)).toBe(0)
  })

  it('with a pointer in the question are refused, even if the name is readable', () => {
    // Found by fuzz.test.ts: the label that begins with the id.
    const message = Buffer.from('1267000000015babc65b6eeac000c35f19126700000000', 'hex')
    message.fill(0, 6, 12)
    const answer = responder.respond(message, client) as Buffer
    expect([answer.readUInt16BE(2) & 15, answer.length]).toEqual([1, 12])
  })

  it('with bytes after the last record are refused', () => {
    const answer = responder.respond(Buffer.concat([questionFor('www.example.test'), Buffer.from('x')]), client)
    expect(decode(answer as Buffer).rcode).toBe('FORMERR')
  })

  it('treat a dot inside a label as part of it', () => {
    const message = questionFor('wwwxexample.test')
    message[message.indexOf('wwwx') + 3] = 0x2e
    expect(decode(responder.respond(message, client) as Buffer).rcode).toBe('REFUSED')
  })
})

describe('cookies (RFC 7873)', () => {
  const withCookie = (data: Buffer, over = responder) =>
    ask(over, 'www.example.test', { edns: { options: [{ code: 10, data }] } })
  const cookieOf = (answer: Message) => optOf(answer).options[0]?.data as Buffer

  it("return the client's own with one of ours, which is recognised later", () => {
    const given = cookieOf(withCookie(Buffer.from('clientid')))
    expect(given.length).toBe(24)
    expect(given.subarray(0, 8).toString()).toBe('clientid')
    const cookies = new Cookies(secret)
    expect(cookies.isOurs(given, '192.0.2.1', Date.now())).toBe(true)
    expect(cookies.isOurs(given, '192.0.2.2', Date.now())).toBe(false)
    expect(new Cookies(Buffer.alloc(32, 2)).isOurs(given, '192.0.2.1', Date.now())).toBe(false)
    expect(cookies.isOurs(given, '192.0.2.1', Date.now() + 3_700_000)).toBe(false)
    expect(cookies.isOurs(given, '192.0.2.1', Date.now() - 400_000)).toBe(false)
  })

  it.each([0, 7, 9, 15, 41])('with %i bytes are an error', (length) => {
    expect(withCookie(Buffer.alloc(length)).rcode).toBe('FORMERR')
  })

  it('of another server are answered with a fresh one', () => {
    const answer = withCookie(Buffer.alloc(24, 9))
    expect(answer.answers).toHaveLength(1)
    expect(new Cookies(secret).isOurs(cookieOf(answer), '192.0.2.1', Date.now())).toBe(true)
  })
})

describe('the rate of equal answers', () => {
  let nowMs = 1_700_000_000_000
  const limited = () => responderOf(zones, { limit: createAnswerLimit(5), now: () => nowMs })
  const outcome = (over: ReturnType<typeof limited>, name: string, asking: Asking = {}) => {
    const { address = '192.0.2.1', over: transport = 'udp' } = asking
    const reply = over.respond(questionFor(name, asking), { address, transport }) as Buffer | undefined
    if (!reply) return 'silence'
    return reply.readUInt16BE(2) & 0x0200 ? 'tcp' : 'answer'
  }
  const outcomes = (over: ReturnType<typeof limited>, count: number, name: string, asking?: Asking) =>
    Array.from({ length: count }, () => outcome(over, name, asking))

  it('alternates "use TCP" with silence above the limit, and recovers a second later', () => {
    const over = limited()
    expect(outcomes(over, 9, 'www.example.test')).toEqual([
      ...Array(5).fill('answer'),
      'silence',
      'tcp',
      'silence',
      'tcp',
    ])
    nowMs += 1000
    expect(outcomes(over, 6, 'www.example.test')).toEqual([...Array(5).fill('answer'), 'silence'])
  })

  it('is counted per network', () => {
    const over = limited()
    outcomes(over, 5, 'www.example.test')
    expect(outcome(over, 'www.example.test', { address: '192.0.2.200' })).toBe('silence')
    expect(outcome(over, 'www.example.test', { address: '198.51.100.1' })).toBe('answer')
    expect(networkOf('2001:db8:1:2ff::1')).toBe(networkOf('2001:db8:1:200::9'))
    expect(networkOf('2001:db8:1:2ff::1')).not.toBe(networkOf('2001:db8:1:300::9'))
    expect(networkOf('::ffff:192.0.2.1')).toBe(networkOf('192.0.2.9'))
  })

  it.each(['example.test', 'wild.example.test'])('counts made-up names below %s together', (name) => {
    const over = limited()
    const all = Array.from({ length: 6 }, (_, at) => outcome(over, `made-up-${at}.${name}`))
    expect(all).toEqual([...Array(5).fill('answer'), 'silence'])
  })

  it('is unlimited for TCP, and for clients with our cookie', () => {
    const over = limited()
    outcomes(over, 5, 'www.example.test')
    expect(outcomes(over, 10, 'www.example.test', { over: 'tcp' })).toEqual(Array(10).fill('answer'))
    const data = new Cookies(secret).answerTo(Buffer.from('clientid'), '192.0.2.1', nowMs)
    const edns = { options: [{ code: 10, data }] }
    expect(outcomes(over, 10, 'www.example.test', { edns })).toEqual(Array(10).fill('answer'))
  })
})

it('answers for every record of a zone', () => {
  expect(lines(ask(responder, 'm7.example.test').answers)).toEqual(['m7.example.test A 192.0.2.1'])
})
