import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { expect, test } from 'vitest'
import { revalidatedEntry } from '../origin/revalidation.ts'
import { IDENTITY } from './encodings.ts'
import { bodyBytes, createEntry, type Entry, type Prepared, putBody } from './entry.ts'
import { joinHead, writeWholeHead } from './whole-head.ts'

const entry = { status: 200, reason: 'Fine' } as Entry
const prepared = (): Prepared => ({
  second: 0,
  how: '',
  headers: [
    'Content-Type',
    'text/plain',
    'Date',
    'Thu, 01 Jan 2026 00:00:00 GMT',
    'Set-Cookie',
    'a=1',
    'Set-Cookie',
    'b=2',
    'Content-Length',
    '4',
    'X-Request-Id',
    '',
  ],
})

/** Returns all bytes of two answers on one connection, the second of which ends it. */
async function bytesOf(answer: (response: ServerResponse) => void, first = 'GET / HTTP/1.1'): Promise<string> {
  const server = createServer((_request, response) => answer(response)).listen(0, '127.0.0.1')
  try {
    await new Promise((resolve) => server.once('listening', resolve))
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    socket.write(`${first}\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`)
    let bytes = ''
    for await (const chunk of socket) bytes += chunk
    return bytes.replaceAll(/\r\nDate: [^\r]+ GMT\r\n/g, '\r\nDate: now\r\n')
  } finally {
    server.close()
  }
}

// Fails when a new Node changes its private fields: writeWholeHead says what to do then.
test('sends a head that is given as one text exactly as Node would have written it', async () => {
  const wasWhole: boolean[] = []
  const whole = await bytesOf((response) => {
    const isWhole = writeWholeHead(response, entry, prepared(), 'id')
    wasWhole.push(isWhole)
    if (!isWhole) response.writeHead(200, 'Fine', [...prepared().headers.slice(0, -1), 'id'])
    response.end('body')
  })
  // A connection that ends is not the simple case.
  expect(wasWhole).toEqual([true, false])
  const plain = await bytesOf((response) => {
    response.writeHead(200, 'Fine', [...prepared().headers.slice(0, -1), 'id']).end('body')
  })
  expect(whole.split('\r\n').sort()).toEqual(plain.split('\r\n').sort())
  expect(whole).toContain('Keep-Alive: timeout=')
  expect(whole).toMatch(/X-Request-Id: id\r\n\r\nbodyHTTP/)
})

test.each(['GET / HTTP/1.0\r\nConnection: keep-alive', 'HEAD / HTTP/1.1'])('uses writeHead for %j', async (line) => {
  const wasWhole: boolean[] = []
  await bytesOf((response) => {
    wasWhole.push(writeWholeHead(response, entry, prepared(), 'id'))
    response.end()
  }, line)
  expect(wasWhole).toEqual([false, false])
})

test('uses writeHead for an answer that already has a header', async () => {
  const bytes = await bytesOf((response) => {
    response.setHeader('X-Own', '1')
    response.end(`whole: ${writeWholeHead(response, entry, prepared(), 'id')}`)
  })
  expect(bytes.match(/X-Own: 1\r\n[\s\S]*?whole: false/g)).toHaveLength(2)
})

const stored = (body: string): Entry =>
  createEntry({
    key: 'key',
    path: '/',
    siteId: 1,
    tier: 'page',
    epoch: 0,
    status: 200,
    reason: 'Fine',
    headers: ['Content-Type', 'text/plain'],
    renderer: 'php',
    body: Buffer.from(body),
    lifetime: { freshMs: 1, staleMs: 1, staleIfErrorMs: 1, ageMs: 0 } as Entry['lifetime'],
    nowMs: 0,
  })

test('sends head and body as one piece with the same bytes as two', async () => {
  const page = stored('body')
  const wasJoined: boolean[] = []
  const answer = (joins: boolean) => (response: ServerResponse) => {
    if (!writeWholeHead(response, page, prepared(), 'id')) response.writeHead(200, 'Fine', prepared().headers)
    const joined = joins ? joinHead(response, page, IDENTITY) : undefined
    wasJoined.push(joined !== undefined)
    expect(response.headersSent).toBe(true)
    response.end(joined ?? page.bodies[IDENTITY])
  }
  const joined = await bytesOf(answer(true))
  expect(joined).toBe(await bytesOf(answer(false)))
  // Node wrote the second head itself, because its connection ends.
  expect(wasJoined).toEqual([true, true, false, false])
  expect(String(page.bodies[IDENTITY])).toBe('body')
})

test('writes no head where a visitor still reads, nor where there is no room', async () => {
  const isJoined = async (page: Entry, end = 'id') => {
    const seen: boolean[] = []
    await bytesOf((response) => {
      seen.push(writeWholeHead(response, page, prepared(), end) && joinHead(response, page, IDENTITY) !== undefined)
      response.end('body')
    }).catch(() => {})
    return seen[0]
  }
  expect(await isJoined(stored('body'))).toBe(true)
  expect(await isJoined(Object.assign(stored('body'), { readers: 1 }))).toBe(false)
  const long = stored('body')
  expect(await isJoined(long, `id${'x'.repeat(long.headLength)}`)).toBe(false)
  // A body that is sent in pieces has no room before it.
  expect(await isJoined(stored('x'.repeat(100_000)))).toBe(false)
})

test('counts the room before a body', () => {
  const page = stored('body')
  for (const length of [1, 65_536, 65_537]) {
    const copy = Buffer.alloc(length)
    putBody(page, 1, copy)
    const taken = page.bodies[1]?.buffer.byteLength
    expect(bodyBytes(page, copy) - bodyBytes(page, Buffer.alloc(0))).toBe(taken)
  }
})

test('leaves no foreign memory in the room before a body', () => {
  const page = stored('<p>some text</p>'.repeat(100))
  putBody(page, 1, Buffer.from('a compressed copy'))
  // A visitor may still read the one that it replaces.
  const renewed = revalidatedEntry(page, {
    headers: ['Content-Type', 'text/plain'],
    lifetime: page.lifetime,
    epoch: 0,
    nowMs: 0,
  })
  const all = [page, renewed].flatMap(({ bodies, rooms }) =>
    [0, 1].map((coding) => ({ body: bodies[coding], room: rooms[coding] })),
  )
  for (const { body, room } of all) expect(body?.buffer.byteLength).toBe((room as number) + (body as Buffer).length)
  expect(new Set(all.map(({ body }) => body?.buffer)).size).toBe(4)
  expect(String(renewed.bodies[1])).toBe('a compressed copy')
})
