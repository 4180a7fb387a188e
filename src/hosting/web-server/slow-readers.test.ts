import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { PhpResponse } from '../php/runtime.ts'
import { ask, createTestSite, KEY, type TestBudgets, type TestSite, testBudgets } from './test-support.ts'

const MB = 1 << 20
const PAGE_MB = 25
const page = randomBytes(PAGE_MB * MB)

let site: TestSite
const sockets: Socket[] = []
beforeEach(async () => {
  site = await createTestSite()
})
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await site.remove()
})

/** Opens a connection that sends a request and reads nothing. */
function stalledReader(port: number, path = '/'): Socket {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {}).pause()
  const head = `GET ${path} HTTP/1.1\r\nHost: site.test\r\nConnection: close\r\nX-Stead-Key: ${KEY}\r\nX-Stead-Site: 7\r\n\r\n`
  socket.write(head)
  sockets.push(socket)
  return socket
}

/** Imitates a PHP that prints a large page, one request at a time. `done` counts them. */
function onePhp() {
  const counted = { done: 0, broken: 0 }
  let last: Promise<unknown> = Promise.resolve()
  const handle = async (): Promise<PhpResponse> => {
    const before = last
    const { promise, resolve } = Promise.withResolvers<void>()
    last = promise
    await before
    const body = Readable.from(
      (async function* () {
        for (let at = 0; at < page.length; at += 1 << 16) yield page.subarray(at, at + (1 << 16))
      })(),
      { objectMode: false, highWaterMark: 1 << 16 },
    )
    body.on('close', () => {
      if (body.readableEnded) counted.done++
      else counted.broken++
      resolve()
    })
    return { status: 200, headers: [], body }
  }
  return { handle, counted }
}

const start = (handle: () => Promise<PhpResponse>, budgets: TestBudgets) => site.start(handle, 1 << 20, budgets)

describe('visitors who read slowly', () => {
  test('do not block PHP: their unread data waits in memory and in a file, within the budgets', async () => {
    const budgets = testBudgets()
    const { handle, counted } = onePhp()
    const port = await start(handle, budgets)
    const reader = stalledReader(port)
    await vi.waitFor(() => expect(counted.done).toBe(1), 60_000)
    expect(budgets.answerMemory.used).toBeLessThanOrEqual(MB)
    expect(budgets.answerDisk.used).toBeGreaterThan(10 * MB)
    expect((await ask(port, '/')).body.equals(page)).toBe(true)
    // The slow visitor gets everything in the end.
    const chunks: Buffer[] = []
    reader.on('data', (chunk) => chunks.push(chunk))
    reader.resume()
    await once(reader, 'close')
    const received = Buffer.concat(chunks)
    const body = received.subarray(received.indexOf('\r\n\r\n') + 4)
    expect(unchunked(body).equals(page)).toBe(true)
    await vi.waitFor(() => expect([budgets.answerMemory.used, budgets.answerDisk.used]).toEqual([0, 0]), 60_000)
  })

  test('are disconnected after they stop reading when others need the space, and the host stays within its limits', async () => {
    const budgets = testBudgets({ answerDisk: { each: 60 * MB, all: 100 * MB } })
    const { handle, counted } = onePhp()
    const port = await start(handle, budgets)
    await ask(port, '/style.css')
    const before = process.memoryUsage.rss()
    const stalled = Array.from({ length: 40 }, () => stalledReader(port))
    let closed = 0
    for (const socket of stalled) socket.on('close', () => closed++)
    expect((await ask(port, '/')).body.equals(page)).toBe(true)
    await vi.waitFor(() => expect(counted.done + counted.broken).toBe(41), 60_000)
    expect(counted.done).toBeGreaterThan(30)
    expect(budgets.answerDisk.used).toBeLessThanOrEqual(60 * MB)
    expect(budgets.answerMemory.used).toBeLessThanOrEqual(8 * MB)
    expect(budgets.answerDisk.metrics().refusals).toBeGreaterThan(0)
    expect(process.memoryUsage.rss() - before, 'all of it would be 1,000 MB').toBeLessThan(400 * MB)
    for (const socket of stalled) socket.destroy()
    await vi.waitFor(() => expect([budgets.answerMemory.used, budgets.answerDisk.used]).toEqual([0, 0]), 60_000)
  })

  test('are not disconnected while they read, in favor of one who does not', async () => {
    const budgets = testBudgets({ answerDisk: { each: 30 * MB, all: 30 * MB } })
    const { handle, counted } = onePhp()
    const port = await start(handle, budgets)
    const still = stalledReader(port)
    const gone = once(still, 'close').then(() => 'cut off')
    still.resume()
    still.pause()
    await vi.waitFor(() => expect(counted.done).toBe(1), 60_000)
    const slow = connect(port, '127.0.0.1')
    sockets.push(slow)
    slow.write(
      `GET / HTTP/1.1\r\nHost: site.test\r\nConnection: close\r\nX-Stead-Key: ${KEY}\r\nX-Stead-Site: 7\r\n\r\n`,
    )
    let received = 0
    slow.on('data', async (chunk) => {
      received += chunk.length
      slow.pause()
      await pause(1)
      slow.resume()
    })
    await once(slow, 'close')
    expect(received).toBeGreaterThan(page.length)
    still.resume()
    expect(await gone).toBe('cut off')
    expect(counted).toEqual({ done: 2, broken: 0 })
  })

  test('of large files use almost no memory', async () => {
    await writeFile(join(site.folder, 'home/web/large.bin'), page)
    const port = await site.start()
    await ask(port, '/style.css')
    const before = process.memoryUsage.rss()
    const stalled = Array.from({ length: 80 }, () => stalledReader(port, '/large.bin'))
    const whole = await ask(port, '/large.bin')
    expect(whole.body.equals(page)).toBe(true)
    for (const socket of stalled) expect(socket.connecting).toBe(false)
    expect(process.memoryUsage.rss() - before, 'all of it would be 2,000 MB').toBeLessThan(400 * MB)
  })
})

describe('a head', () => {
  test('larger than the edge’s limit is an error of the page, and keeps the connection usable', async () => {
    const headers = Array.from({ length: 60 }, (_, i) => [`X-Long-${i}`, 'x'.repeat(1000)]).flat()
    const port = await site.start(() => ({ status: 200, headers, body: Readable.from(['page']) }))
    expect((await ask(port, '/')).status).toBe(502)
  })
})

function unchunked(body: Buffer): Buffer {
  const parts: Buffer[] = []
  for (let at = 0; ; ) {
    const end = body.indexOf('\r\n', at)
    const length = Number.parseInt(body.toString('latin1', at, end), 16)
    if (!length) return Buffer.concat(parts)
    parts.push(body.subarray(end + 2, end + 2 + length))
    at = end + 2 + length + 2
  }
}
