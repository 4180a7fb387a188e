import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { listenToSite } from './host-channel.ts'

let folder: string
let path: string
let server: Server
const isReady = vi.fn<() => Promise<unknown>>()
const [onNote, onAsk] = [vi.fn<(text: string) => void>(), vi.fn<(text: string) => Promise<string>>()]

beforeEach(async () => {
  vi.resetAllMocks()
  isReady.mockResolvedValue(undefined)
  folder = await mkdtemp(join(tmpdir(), 'stead-channel-'))
  path = join(folder, 'host')
  server = await listenToSite(path, { isReady, onNote, onAsk })
})
afterEach(async () => {
  server.close()
  await rm(folder, { recursive: true })
})

/** @param announced the announced length, if it differs from the text's */
async function say(text: string, announced = Buffer.byteLength(text)): Promise<Buffer> {
  const socket = connect(path)
  const length = Buffer.alloc(4)
  length.writeUInt32BE(announced)
  socket.on('error', () => {})
  socket.write(length)
  socket.write(text)
  return buffer(socket).catch(() => Buffer.alloc(0))
}
const nothing = Buffer.alloc(4)

test('receives notes and answers nothing, and answers questions', async () => {
  expect(await say('{"note":"ü"}')).toEqual(nothing)
  expect(onNote).toHaveBeenCalledWith('{"note":"ü"}')
  onAsk.mockResolvedValueOnce('yes')
  expect((await say('{"ask":1}')).toString()).toBe('\0\0\0\u0003yes')
  expect(onNote).toHaveBeenCalledTimes(1)
})

test('answers nothing to a question that fails', async () => {
  onAsk.mockRejectedValueOnce(new Error('no'))
  expect(await say('{"ask":1}')).toEqual(nothing)
})

test('receives nothing before the sandbox is ready, and no note from a client that only waits', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  isReady.mockReturnValue(promise)
  const answered = [say(''), say('{"note":1}')]
  await vi.waitFor(() => expect(isReady).toHaveBeenCalledTimes(2))
  await turn()
  expect(onNote).not.toHaveBeenCalled()
  resolve()
  expect(await Promise.all(answered)).toEqual([nothing, nothing])
  expect(onNote.mock.calls).toEqual([['{"note":1}']])
})

test('receives long messages whole', async () => {
  const long = `{"note":"${'x'.repeat(200_000)}"}`
  expect(await say(long)).toEqual(nothing)
  expect(onNote.mock.calls[0]?.[0]).toHaveLength(long.length)
})

test('does not receive a message above the limit', async () => {
  expect(await say('x'.repeat((1 << 18) + 1))).toEqual(Buffer.alloc(0))
  expect(onNote).not.toHaveBeenCalled()
})

test('receives at most sixteen messages at once', async () => {
  const sockets = Array.from({ length: 16 }, () => connect(path))
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  expect(await say('{"note":1}')).toEqual(Buffer.alloc(0))
  for (const socket of sockets) socket.destroy()
  await vi.waitFor(async () => expect(await say('{"note":1}')).toEqual(nothing))
})
