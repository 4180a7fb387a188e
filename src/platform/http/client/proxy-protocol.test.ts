import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { createClientReader } from './client-address.ts'
import { readProxyHeaders, siteHeader } from './proxy-protocol.ts'

let server: Server | undefined
afterEach(() => {
  server?.closeAllConnections()
  server?.close()
})

const REQUEST =
  'GET / HTTP/1.1\r\nHost: a.test\r\nX-Forwarded-For: 203.0.113.1\r\nX-Forwarded-Proto: https\r\nConnection: close\r\n\r\n'

/** @returns the client that the server reads; undefined when it closes the connection without an answer */
async function seen(
  pieces: readonly (string | Buffer)[],
  { balancers = ['127.0.0.1'], siteKey = 'the key', trust = [] as string[], timeoutMs = 60_000 } = {},
): Promise<string | undefined> {
  const readClient = createClientReader(trust, 'http')
  server = createServer((request, response) => {
    const { forwardedFor, scheme } = readClient(request)
    response.end(`${forwardedFor} ${scheme} `)
  })
  readProxyHeaders(server, { isBalancer: (address) => balancers.includes(address), siteKey, timeoutMs })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.setNoDelay(true).on('error', () => {})
  for (const piece of pieces) {
    socket.write(piece)
    // Wait between writes, so that they arrive in separate pieces.
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
  }
  let text = ''
  try {
    for await (const chunk of socket.setEncoding('latin1')) text += chunk
  } catch {
    // After a reset, only the bytes received before it remain.
  }
  return /^HTTP\/1\.1 200/.test(text)
    ? text
        .slice(text.indexOf('\r\n\r\n') + 4)
        .replace(/^\w+\r\n|\r\n.*$/gs, '')
        .trim()
    : undefined
}

const SIGNATURE = '0d0a0d0a000d0a515549540a'
const v2 = (command: string, family: string, content: string) =>
  Buffer.from(`${SIGNATURE}${command}${family}${(content.length / 2).toString(16).padStart(4, '0')}${content}`, 'hex')
const to = (address: string, port: number) => `${address}${port.toString(16).padStart(4, '0')}`
// 192.0.2.7:5000 → 192.0.2.1
const V4 = `c0000207c0000201${to('1388', 80)}`
const V6 = `20010db8${'0'.repeat(23)}720010db8${'0'.repeat(23)}1${to('1388', 80)}`

// biome-ignore format: a table
test.each<[string, (string | Buffer)[], string | undefined]>([
  ['none at all', [REQUEST], '127.0.0.1 http'],
  ['version 1', ['PROXY TCP4 192.0.2.7 192.0.2.1 5000 80\r\n', REQUEST], '192.0.2.7 http'],
  ['version 1 in one with the request', [`PROXY TCP4 192.0.2.7 192.0.2.1 5000 80\r\n${REQUEST}`], '192.0.2.7 http'],
  ['version 1 byte by byte', [...'PROXY TCP6 2001:db8::7 2001:db8::1 5000 80\r\n', REQUEST], '2001:db8::7 http'],
  ['version 1 to the port of https', ['PROXY TCP4 192.0.2.7 192.0.2.1 5000 443\r\n', REQUEST], '192.0.2.7 https'],
  ['version 1 that knows nothing', ['PROXY UNKNOWN\r\n', REQUEST], '127.0.0.1 http'],
  ['version 1 with another address than it says', ['PROXY TCP4 2001:db8::7 ::1 1 2\r\n', REQUEST], undefined],
  ['version 1 without an end', [`PROXY TCP4 ${'1'.repeat(120)}`, REQUEST], undefined],
  ['version 2', [v2('21', '11', V4), REQUEST], '192.0.2.7 http'],
  ['version 2, IPv6, in two pieces', [v2('21', '21', V6).subarray(0, 20), v2('21', '21', V6).subarray(20), REQUEST], '2001:db8::7 http'],
  ['version 2 over TLS', [v2('21', '11', `${V4}2000050100000000`), REQUEST], '192.0.2.7 https'],
  ['version 2 with a TLV of others', [v2('21', '11', `${V4}0100026831`), REQUEST], '192.0.2.7 http'],
  ['version 2 of the balancer itself', [v2('20', '00', ''), REQUEST], '127.0.0.1 http'],
  ['version 2 with a TLV that does not fit', [v2('21', '11', `${V4}0100ff68`), REQUEST], undefined],
  ['version 2 without its addresses', [v2('21', '11', 'c0000207'), REQUEST], undefined],
  ['version 3', [v2('31', '11', V4), REQUEST], undefined],
  ['version 2 that is too long', [v2('21', '11', '00'.repeat(2100)), REQUEST], undefined],
])('reads what a balancer declares: %s', async (_name, pieces, expected) => {
  expect(await seen(pieces)).toBe(expected)
})

test('refuses a declared address from any other peer', async () => {
  expect(await seen(['PROXY TCP4 192.0.2.7 192.0.2.1 5000 80\r\n', REQUEST], { balancers: [] })).toBeUndefined()
})

test('does not trust what a visitor declares through a balancer, whichever proxies are trusted', async () => {
  const pieces = ['PROXY TCP4 192.0.2.7 192.0.2.1 5000 80\r\n', REQUEST]
  expect(await seen(pieces, { trust: ['127.0.0.1'] })).toBe('192.0.2.7 http')
  expect(await seen(pieces, { trust: ['192.0.2.7'] })).toBe('203.0.113.1, 192.0.2.7 https')
})

test("accepts a host's proof that a connection comes from its site, and does not treat sites as proxies", async () => {
  const options = { balancers: [], trust: ['127.0.0.1'] }
  expect(await seen([siteHeader('the key', 'https'), REQUEST.replace('https', 'http')], options)).toBe(
    '127.0.0.1 https',
  )
  expect(await seen([siteHeader('the key', 'http'), REQUEST], options)).toBe('127.0.0.1 http')
  expect(await seen([siteHeader('a key', 'https'), REQUEST], options)).toBeUndefined()
  expect(await seen([REQUEST], options)).toBe('203.0.113.1, 127.0.0.1 https')
})

test("accepts only a host's proof that Stead itself checks a site", async () => {
  const looked = async (header: Buffer | string, siteKey = 'the key') => {
    let client: unknown = 'cut off'
    const readClient = createClientReader([], 'http')
    server = createServer((request, response) => {
      client = readClient(request).looksAt
      response.end()
    })
    readProxyHeaders(server, { isBalancer: () => true, siteKey, timeoutMs: 60_000 })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {})
    socket.write(header)
    socket.write(REQUEST)
    socket.resume()
    await once(socket, 'close')
    server.close()
    return client
  }
  expect(await looked(siteHeader('the key', 'http', 7))).toBe(7)
  expect(await looked(siteHeader('the key', 'http'))).toBeUndefined()
  expect(await looked(siteHeader('a key', 'http', 7))).toBe('cut off')
  // This balancer sends the same field, but no key.
  expect(await looked(v2('21', '11', `${V4}e2000137`))).toBeUndefined()
})

test('closes a silent connection in time', async () => {
  expect(await seen(['PROXY '], { timeoutMs: 20 })).toBeUndefined()
})
