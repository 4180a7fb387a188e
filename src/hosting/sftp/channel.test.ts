import { EventEmitter } from 'node:events'
import { PassThrough } from 'node:stream'
import type { SFTPWrapper } from 'ssh2'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { SftpChannel } from './channel.ts'
import { Refused } from './refused.ts'
import type { Requests, SftpAnswer } from './requests.ts'

const file = Buffer.from([0, 0, 0, 1])
const other = Buffer.from([0, 0, 0, 2])
const OK: SftpAnswer = { kind: 'ok' }

let client: EventEmitter & { status: (id: number, code: number) => void; data: (id: number, data: Buffer) => void }
let socket: PassThrough
let enter: () => void
let channel: SftpChannel
const answered: [id: number, what: number | string][] = []
const requests = {
  write: vi.fn<Requests['write']>(),
  read: vi.fn<Requests['read']>(),
  close: vi.fn<Requests['close']>(),
  closeAll: async () => {},
}

beforeEach(() => {
  vi.resetAllMocks()
  answered.length = 0
  client = Object.assign(new EventEmitter(), {
    status: (id: number, code: number) => void answered.push([id, code]),
    data: (id: number, data: Buffer) => void answered.push([id, data.toString()]),
  })
  const entered = Promise.withResolvers<void>()
  enter = entered.resolve
  socket = new PassThrough()
  channel = new SftpChannel(client as unknown as SFTPWrapper, {
    socket: socket as never,
    requests: requests as unknown as Requests,
    entered: entered.promise,
    onActivity() {},
    log: { error() {} },
  })
})
afterEach(() => channel.end())

const allAnswered = (count: number) => vi.waitUntil(() => answered.length === count)
const asked = (work: { mock: { calls: unknown[][] } }) => work.mock.calls.map(([, ...words]) => words)

test('writes consecutive pieces together, but not pieces with gaps, of other files, or behind another request', async () => {
  requests.write.mockResolvedValue(OK)
  requests.close.mockResolvedValue(OK)
  const write = (id: number, handle: Buffer, offset: number, text: string) =>
    client.emit('WRITE', id, handle, offset, Buffer.from(text))
  write(1, file, 0, 'ab')
  write(2, file, 2, 'cd')
  write(3, file, 9, 'x')
  write(4, other, 10, 'y')
  client.emit('CLOSE', 5, other)
  write(6, other, 11, 'z')
  enter()
  await allAnswered(6)
  expect(requests.write.mock.calls.map(([handle, offset, pieces]) => [handle[3], offset, pieces.join('')])).toEqual([
    [1, 0, 'abcd'],
    [1, 9, 'x'],
    [2, 10, 'y'],
    [2, 11, 'z'],
  ])
  expect(requests.close.mock.invocationCallOrder[0]).toBeLessThan(requests.write.mock.invocationCallOrder[3] as number)
  expect(answered).toEqual([1, 2, 3, 4, 5, 6].map((id) => [id, 0]))
})

test('tries each piece on its own when not all can be written, so that as many as fit are', async () => {
  requests.write.mockImplementation(async (_handle, offset, pieces) => {
    if (offset + pieces.length > 2) throw new Refused('failure', 'There is no room')
    return OK
  })
  for (const at of [0, 1, 2]) client.emit('WRITE', at, file, at, Buffer.from('.'))
  enter()
  await allAnswered(3)
  expect(answered).toEqual([
    [0, 0],
    [1, 0],
    [2, 4],
  ])
})

test('reads pieces together, up to 1 MB, answers each, and reports the end of the file after them', async () => {
  requests.read.mockImplementation(async (_handle, _offset, lengths) =>
    lengths.map((_, at) => (at < 2 ? { kind: 'data', data: Buffer.from(String(at)) } : { kind: 'end' })),
  )
  const MB = 1 << 20
  for (const at of [0, 1, 2, 3, 4]) client.emit('READ', at, file, (at * MB) / 4, MB / 4)
  enter()
  await allAnswered(5)
  expect(asked(requests.read)).toEqual([
    [0, [MB / 4, MB / 4, MB / 4, MB / 4]],
    [MB, [MB / 4]],
  ])
  expect(answered).toEqual([
    [0, '0'],
    [1, '1'],
    [2, 1],
    [3, 1],
    [4, '0'],
  ])
})

test('stops reading from a client that requests more than is done, and disconnects one that continues', async () => {
  requests.close.mockResolvedValue(OK)
  const ask = (count: number) => {
    for (let id = 0; id < count; id++) client.emit('CLOSE', id, file)
  }
  ask(64)
  expect(socket.isPaused()).toBe(false)
  ask(2)
  expect(socket.isPaused()).toBe(true)
  enter()
  await allAnswered(66)
  expect([socket.isPaused(), socket.destroyed]).toEqual([false, false])
})

test('disconnects a client with more than 1,024 waiting requests', () => {
  for (let id = 0; id < 1025; id++) client.emit('CLOSE', id, file)
  expect(socket.destroyed).toBe(true)
  void channel.end()
  enter()
})

test('disconnects a client with more than 16 MB waiting to be written', () => {
  const piece = Buffer.alloc(1 << 20)
  for (let id = 0; id < 16; id++) client.emit('WRITE', id, file, 0, piece)
  expect(socket.destroyed).toBe(false)
  client.emit('WRITE', 17, file, 0, piece)
  expect(socket.destroyed).toBe(true)
  void channel.end()
  enter()
})
