import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { expect, test } from 'vitest'
import type { Entry, Prepared } from './entry.ts'
import { writeWholeHead } from './whole-head.ts'

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

/** All bytes of two answers on one connection, the second of which ends it. */
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

// Fails on the day when Node's private parts change: see writeWholeHead for what to do then.
test('Node sends a head that is given as one text as it would have written it itself', async () => {
  const wasWhole: boolean[] = []
  const whole = await bytesOf((response) => {
    const isWhole = writeWholeHead(response, entry, prepared(), 'id')
    wasWhole.push(isWhole)
    if (!isWhole) response.writeHead(200, 'Fine', [...prepared().headers.slice(0, -1), 'id'])
    response.end('body')
  })
  // a connection that ends is not the plain case
  expect(wasWhole).toEqual([true, false])
  const plain = await bytesOf((response) => {
    response.writeHead(200, 'Fine', [...prepared().headers.slice(0, -1), 'id']).end('body')
  })
  expect(whole.split('\r\n').sort()).toEqual(plain.split('\r\n').sort())
  expect(whole).toContain('Keep-Alive: timeout=')
  expect(whole).toMatch(/X-Request-Id: id\r\n\r\nbodyHTTP/)
})

test.each(['GET / HTTP/1.0\r\nConnection: keep-alive', 'HEAD / HTTP/1.1'])('%j is not the plain case', async (line) => {
  const wasWhole: boolean[] = []
  await bytesOf((response) => {
    wasWhole.push(writeWholeHead(response, entry, prepared(), 'id'))
    response.end()
  }, line)
  expect(wasWhole).toEqual([false, false])
})

test('nor is an answer that has a header already', async () => {
  const bytes = await bytesOf((response) => {
    response.setHeader('X-Own', '1')
    response.end(`whole: ${writeWholeHead(response, entry, prepared(), 'id')}`)
  })
  expect(bytes.match(/X-Own: 1\r\n[\s\S]*?whole: false/g)).toHaveLength(2)
})
