import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import Type from 'typebox'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Endpoint } from './endpoint.ts'
import { createLab, type Lab } from './test-support.ts'

const common = { tag: 'Lab', summary: 'Test', access: 'any', response: Type.Unsafe<unknown>({}) }
let entered = Promise.withResolvers<void>()
let released = Promise.withResolvers<void>()
const endpoints: Endpoint[] = [
  {
    ...common,
    id: 'slow',
    method: 'POST',
    path: '/v1/slow',
    handle: async () => {
      entered.resolve()
      await released.promise
      return 'done'
    },
  },
  { ...common, id: 'quick', method: 'GET', path: '/v1/quick', handle: async () => 'quick' },
  {
    ...common,
    id: 'events',
    method: 'GET',
    path: '/v1/events',
    style: 'stream',
    contentType: 'text/event-stream',
    response: Type.String(),
    handle: async ({ response }) => response.type('text/event-stream').send(Readable.from(endless())),
  },
]

async function* endless() {
  yield 'data: 1\n\n'
  await new Promise(() => {})
}

let lab: Lab
let port: number
beforeEach(async () => {
  entered = Promise.withResolvers()
  released = Promise.withResolvers()
  lab = await createLab(endpoints)
  port = Number(new URL(await lab.app.listen({ host: '127.0.0.1', port: 0 })).port)
})
afterEach(() => lab.close())

const send = async (method: string, path: string, agent?: Agent) => {
  const call = request({
    host: '127.0.0.1',
    port,
    method,
    path,
    headers: { authorization: 'Bearer 1' },
    agent: agent ?? false,
  })
  call.end()
  const [response] = await once(call, 'response')
  return {
    status: response.statusCode,
    headers: response.headers,
    body: await new Response(Readable.toWeb(response) as never).text(),
  }
}

it('answers a request in flight, closes kept connections, then stops listening', async () => {
  const agent = new Agent({ keepAlive: true })
  expect((await send('GET', '/v1/quick', agent)).status).toBe(200)
  const slow = send('POST', '/v1/slow')
  await entered.promise
  const closed = lab.app.close()
  released.resolve()
  const answer = await slow
  expect([answer.status, JSON.parse(answer.body).data]).toEqual([200, 'done'])
  await closed
  await expect(send('GET', '/v1/quick')).rejects.toThrow(/ECONNREFUSED/)
  agent.destroy()
})

it('does not wait for a client that only listens for events', async () => {
  const socket = connect(port, '127.0.0.1')
  socket.write('GET /v1/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer 1\r\n\r\n')
  await once(socket, 'data')
  socket.resume()
  const ended = once(socket, 'close')
  await lab.app.close()
  await ended
})

it.each([
  ['GARBAGE\r\n\r\n', 400, 'invalid_http'],
  ['GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n', 400, 'invalid_http'],
  [`GET /healthz HTTP/1.1\r\nHost: x\r\nX-Long: ${'a'.repeat(20_000)}\r\n\r\n`, 431, 'head_too_large'],
])('answers malformed HTTP with an envelope and closes the connection: %.20s', async (text, status, code) => {
  const socket = connect(port, '127.0.0.1')
  socket.write(text)
  let answer = ''
  socket.on('data', (chunk) => {
    answer += chunk
  })
  await once(socket, 'close')
  expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
  expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toMatchObject({
    data: null,
    errors: [expect.any(String)],
    code,
  })
})

it('413 for a body in pieces that grows past the limit', async () => {
  const call = request({
    host: '127.0.0.1',
    port,
    method: 'POST',
    path: '/v1/slow',
    headers: { authorization: 'Bearer 1', 'content-type': 'application/json' },
  })
  call.on('error', () => {})
  const [response] = await Promise.all([once(call, 'response'), call.end('a'.repeat((1 << 20) + 1))])
  expect(response[0].statusCode).toBe(413)
})
