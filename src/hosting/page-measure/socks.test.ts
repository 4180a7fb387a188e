import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createSocks } from './socks.ts'

const SITE = [3, 12, ...Buffer.from('a.site.test.')]
let socks: Server
let site: Server
let port: number
let reached: [string, number][]
let reach: () => Promise<Socket | undefined>

beforeEach(async () => {
  reached = []
  site = createServer((socket) => socket.on('error', () => {}).pipe(socket)).listen(0, '127.0.0.1')
  await once(site, 'listening')
  const { port: sitePort } = site.address() as AddressInfo
  reach = async () => {
    const socket = connect(sitePort, '127.0.0.1')
    await once(socket, 'connect')
    return socket
  }
  socks = createSocks(async (host, to) => {
    reached.push([host, to])
    return reach()
  }).listen(0, '127.0.0.1')
  await once(socks, 'listening')
  port = (socks.address() as AddressInfo).port
})
afterEach(() => {
  socks.close()
  site.close()
})

/** Sends bytes one at a time, and reads until `most` have arrived or the proxy has closed. */
async function say(bytes: readonly number[], most = Number.POSITIVE_INFINITY): Promise<number[]> {
  const socket = connect(port, '127.0.0.1').setNoDelay()
  socket.on('error', () => {})
  for (const byte of bytes) socket.write(Buffer.from([byte]))
  const heard: number[] = []
  for await (const piece of socket) {
    heard.push(...piece)
    if (heard.length >= most) break
  }
  return heard
}
const HELLO = [5, 1, 0]
const request = (command: number, address: readonly number[]) => [...HELLO, 5, command, 0, ...address, 0, 80]
const refusal = (code: number) => [5, 0, 5, code, 0, 1, 0, 0, 0, 0, 0, 0]

test.each([
  ['a name', SITE, 'a.site.test.'],
  ['an address', [1, 192, 0, 2, 7], '192.0.2.7'],
  ['an address of IPv6', [4, 0x20, 1, 0xd, 0xb8, ...Array(11).fill(0), 1], '2001:0db8:0000:0000:0000:0000:0000:0001'],
])('connects to %s, and forwards later data in both directions', async (_what, address, host) => {
  expect(await say([...request(1, address), ...Buffer.from('hello')], 17)).toEqual([
    ...refusal(0),
    ...Buffer.from('hello'),
  ])
  expect(reached).toEqual([[host, 80]])
})

test.each([
  ['listens for nobody (BIND)', request(2, SITE)],
  ['carries no UDP', request(3, SITE)],
  ['knows no other kind of address', request(1, [9])],
])('%s', async (_what, bytes) => {
  expect(await say(bytes)).toEqual(refusal(7))
  expect(reached).toEqual([])
})

test('refuses forbidden targets, and reports unreachable ones', async () => {
  reach = async () => undefined
  expect(await say(request(1, SITE))).toEqual(refusal(2))
  reach = async () => {
    throw new Error('nobody there')
  }
  expect(await say(request(1, SITE))).toEqual(refusal(4))
})

test('sends nothing to another protocol', async () => {
  expect(await say([4, 1, 0, 80, 192, 0, 2, 7, 0])).toEqual([])
  expect(await say([...Buffer.from('GET / HTTP/1.1\r\n\r\n')])).toEqual([])
  expect(reached).toEqual([])
})

test('closes the connection when the client leaves', async () => {
  let outside: Socket | undefined
  const real = reach
  reach = async () => {
    outside = await real()
    return outside
  }
  await say(request(1, SITE), 12)
  if (!outside?.closed) await once(outside as Socket, 'close')
  expect(outside?.destroyed).toBe(true)
})
