import dnsPacket from 'dns-packet'
import { expect, test } from 'vitest'
import { answerName, MadeUpAddresses } from './name-server.ts'

const question = (name: string, type: 'A' | 'AAAA' | 'MX' = 'A') =>
  Buffer.from(
    dnsPacket.encode({ type: 'query', id: 4711, flags: dnsPacket.RECURSION_DESIRED, questions: [{ name, type }] }),
  )
const answerOf = (asked: Buffer, names = new MadeUpAddresses()) => {
  const answer = answerName(asked, names)
  return answer && dnsPacket.decode(answer)
}

test('gives each name an unused address, the same one each time, and recognizes the name by it', () => {
  const names = new MadeUpAddresses()
  const [one, other, again] = ['One.example', 'other.example', 'one.EXAMPLE'].map((name) =>
    answerOf(question(name), names),
  )
  expect(one).toMatchObject({ id: 4711, type: 'response', rcode: 'NOERROR' })
  expect(one?.answers).toEqual([expect.objectContaining({ type: 'A', data: '172.29.0.1', ttl: 1 })])
  const addresses = [other, again].flatMap((each) => each?.answers ?? [])
  expect(addresses).toEqual(['172.29.0.2', '172.29.0.1'].map((data) => expect.objectContaining({ data })))
  expect(['172.29.0.1', '172.29.0.2', '172.29.0.3'].map((address) => names.nameOf(address))).toEqual([
    'one.example',
    'other.example',
    undefined,
  ])
})

test.each(['AAAA', 'MX'] as const)('answers that a name exists, without records of type %s', (type) => {
  expect(answerOf(question('one.example', type))).toMatchObject({ rcode: 'NOERROR', answers: [] })
})

test('bounds what it remembers by giving the oldest address to another name', () => {
  const names = new MadeUpAddresses()
  const first = names.addressOf('first.example')
  for (let n = 0; n < 10_000; n++) names.addressOf(`${n}.example`)
  expect(names.nameOf(first)).toBe('9999.example')
  expect(names.addressOf('first.example')).not.toBe(first)
})

test.each([
  ['nothing', Buffer.alloc(0)],
  ['half a head', question('a.example').subarray(0, 8)],
  ['a name that is cut off', question('a.example').subarray(0, 16)],
  ['an answer', Buffer.from(question('a.example')).fill(0x80, 2, 3)],
  ['two questions', Buffer.from(question('a.example')).fill(2, 5, 6)],
  ['a pointer in place of a name', Buffer.from(question('a.example')).fill(0xc0, 12, 13)],
  ['characters that no name has', question('a b.example')],
])('does not answer %s', (_what, asked) => {
  expect(answerName(asked, new MadeUpAddresses())).toBeUndefined()
})
