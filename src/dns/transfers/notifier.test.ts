import { createSocket, type RemoteInfo, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { afterEach, expect, it, vi } from 'vitest'
import { decode, lines, zonesOf } from '../test-support.ts'
import type { ServedZone } from '../zones/zone.ts'
import { Notifier, type NotifierOptions } from './notifier.ts'

const closing: (() => void)[] = []
afterEach(() => {
  vi.useRealTimers()
  for (const close of closing.splice(0)) close()
})

/** Starts a secondary that receives notifications. The test decides how it replies. */
async function secondary(
  hear: (socket: Socket, message: Buffer, from: RemoteInfo) => void,
  { type = 'udp4' as 'udp4' | 'udp6', host = '127.0.0.1' } = {},
) {
  const socket = createSocket(type)
  socket.bind(0, host)
  await once(socket, 'listening')
  closing.push(() => socket.close())
  socket.on('message', (message, from) => hear(socket, message, from))
  return { host, port: socket.address().port }
}

function notifierFor(host: { host: string; port: number; keyName?: string }, more: Partial<NotifierOptions> = {}) {
  const notifier = new Notifier({ secondaries: [host], keys: new Map(), firstWaitMs: 20, onGiveUp() {}, ...more })
  closing.push(() => notifier.close())
  return notifier
}

const zone = zonesOf({ 'example.test': ['www A 192.0.2.1'] }).get('example.test') as ServedZone

function heard(socket: Socket, message: Buffer, from: RemoteInfo): void {
  const answer = Buffer.from(message.subarray(0, 12 + 14 + 4))
  answer.fill(0, 6, 12)
  answer.writeUInt16BE(0x8000 | (4 << 11), 2)
  socket.send(answer, from.port, from.address)
}

it('repeats a notification until it is answered', async () => {
  const notices: Buffer[] = []
  const host = await secondary((socket, message, from) => {
    notices.push(message)
    if (notices.length === 3) heard(socket, message, from)
  })
  const notifier = notifierFor(host)
  notifier.changed(zone)
  expect(notifier.waiting).toBe(1)
  await expect.poll(() => notifier.waiting).toBe(0)
  const notice = decode(notices[0])
  expect(notice).toMatchObject({
    type: 'query',
    opcode: 'NOTIFY',
    flag_aa: true,
    questions: [{ name: 'example.test', type: 'SOA' }],
  })
  expect(lines(notice.answers)).toEqual([
    'example.test SOA ns1.servers.test hostmaster.example.test 7 14400 3600 1209600 300',
  ])
})

it('ignores an answer from someone else', async () => {
  const stranger = createSocket('udp4')
  closing.push(() => stranger.close())
  let told = 0
  const host = await secondary((socket, message, from) => {
    told++
    heard(told < 3 ? stranger : socket, message, from)
  })
  const notifier = notifierFor(host)
  notifier.changed(zone)
  await expect.poll(() => notifier.waiting).toBe(0)
  expect(told).toBeGreaterThan(2)
})

it('ignores an answer to something else, and gives up after six tries with a report', async () => {
  let told = 0
  const host = await secondary((socket, message, from) => {
    told++
    const other = Buffer.from(message)
    other.writeUInt16BE(message.readUInt16BE(0) ^ 1, 0)
    heard(socket, other, from)
    socket.send(message, from.port, from.address)
  })
  const given: string[] = []
  const notifier = notifierFor(host, { onGiveUp: (_secondary, name) => given.push(name) })
  notifier.changed(zone)
  await expect.poll(() => given).toEqual(['example.test'])
  expect(notifier.waiting).toBe(0)
  await expect.poll(() => told).toBe(6)
})

it('signs with a key, and sends notifications of many zones one after the other', async () => {
  const names = new Set<string>()
  const host = await secondary((socket, message, from) => {
    names.add(decode(message).questions?.[0]?.name as string)
    expect(message.readUInt16BE(10)).toBe(1)
    const answer = Buffer.from(message.subarray(0, 12))
    answer.fill(0, 4, 12)
    answer.writeUInt16BE(0x8000 | (4 << 11), 2)
    socket.send(answer, from.port, from.address)
  })
  const notifier = notifierFor(
    { ...host, keyName: 'key' },
    { keys: new Map([['key', Buffer.alloc(32, 1)]]), firstWaitMs: 1000 },
  )
  for (const each of zonesOf(
    Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`zone${at}.test`, []])),
  ).values())
    notifier.changed(each)
  expect(notifier.waiting).toBe(200)
  await expect.poll(() => notifier.waiting).toBe(0)
  expect(names.size).toBe(200)
})

it('supports IPv6, whose addresses have many forms', async () => {
  const host = await secondary(heard, { type: 'udp6', host: '::1' })
  const given: string[] = []
  const notifier = notifierFor(
    { ...host, host: '0:0:0:0:0:0:0:1' },
    { onGiveUp: (_secondary, name) => given.push(name) },
  )
  notifier.changed(zone)
  expect(notifier.waiting).toBe(1)
  await expect.poll(() => notifier.waiting).toBe(0)
  expect(given).toEqual([])
})

it('repeats the last of many notifications once when several processes answer, because one may learn of the change late', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  let told = 0
  const host = await secondary((socket, message, from) => {
    told++
    heard(socket, message, from)
  })
  const isAnswered = async (notifier: Notifier, times: number) => {
    while (told < times || notifier.waiting > 0) await new Promise(setImmediate)
    expect(told).toBe(times)
  }
  const notifier = notifierFor(host, { againMs: 150 })
  notifier.changed(zone)
  await isAnswered(notifier, 1)
  vi.advanceTimersByTime(149)
  notifier.changed(zone)
  await isAnswered(notifier, 2)
  vi.advanceTimersByTime(149)
  expect(notifier.waiting).toBe(0)
  vi.advanceTimersByTime(1)
  await isAnswered(notifier, 3)
  expect(vi.getTimerCount()).toBe(0)
  const alone = notifierFor(host)
  alone.changed(zone)
  await isAnswered(alone, 4)
  expect(vi.getTimerCount()).toBe(0)
})
