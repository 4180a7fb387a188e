/** Tests the API over raw connections: malformed requests, and bytes that follow a request that ends the connection. */
import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import Type from 'typebox'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { Budget } from '../budgets/budget.ts'
import type { Endpoint } from './endpoint.ts'
import { createLab, type Lab } from './test-support.ts'

const common = { tag: 'Lab', summary: 'Test', access: 'any', response: Type.Unsafe<unknown>({}) }
const done: string[] = []
let release: () => void = () => {}
const endpoints: Endpoint[] = [
  {
    ...common,
    id: 'touch',
    method: 'POST',
    path: '/v1/touch',
    handle: async () => {
      done.push('touch')
      return 'touched'
    },
  },
  {
    ...common,
    id: 'wait',
    method: 'POST',
    path: '/v1/wait',
    handle: async () => {
      done.push('wait')
      await new Promise<void>((resolve) => {
        release = resolve
      })
      return 'waited'
    },
  },
]

let lab: Lab
let port: number
beforeAll(async () => {
  const bodies = { name: 'bodies', what: '', of: 'memory', whose: 'address', each: 1000, all: 1000, over: '' } as const
  lab = await createLab(endpoints, { bodies: new Budget(bodies) })
  await lab.app.listen({ host: '127.0.0.1', port: 0 })
  port = (lab.app.server.address() as AddressInfo).port
})
afterAll(() => lab.close())
beforeEach(() => {
  done.length = 0
})

/** Returns everything that the server sends until the connection ends. */
async function send(bytes: string): Promise<{ statuses: number[]; text: string }> {
  const socket = connect(port, '127.0.0.1')
  let text = ''
  socket.on('data', (piece) => {
    text += piece
  })
  socket.write(bytes)
  await once(socket, 'close')
  return { statuses: [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status)), text }
}

const HEAD = 'Host: x\r\nAuthorization: Bearer 1\r\n'
const touch = `POST /v1/touch HTTP/1.1\r\n${HEAD}Content-Length: 0\r\n\r\n`
const last = `POST /v1/touch HTTP/1.1\r\n${HEAD}Connection: close\r\nContent-Length: 0\r\n\r\n`
const big = 'x'.repeat(2000)

describe('refuses a malformed request, closes the connection, and ignores the bytes after it', () => {
  it.each([
    ['two hosts', `GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n`, 400],
    ['HTTP/0.9', 'GET /healthz\r\n\r\n', 400],
    ['no HTTP', 'GARBAGE\r\n\r\n', 400],
    ['chunked with HTTP/1.0', `POST /v1/touch HTTP/1.0\r\n${HEAD}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, 400],
    ['a length over 2^53', `POST /v1/touch HTTP/1.1\r\n${HEAD}Content-Length: 9007199254740993\r\n\r\n`, 413],
    ['more than the budget', `POST /v1/touch HTTP/1.1\r\n${HEAD}Content-Length: 2000\r\n\r\n${big}`, 429],
    ['a head of 20 kB', `GET /healthz HTTP/1.1\r\n${HEAD}X-Long: ${'a'.repeat(20_000)}\r\n\r\n`, 431],
    ['another coding', `POST /v1/touch HTTP/1.1\r\n${HEAD}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`, 501],
    ['HTTP/2.0', `GET /healthz HTTP/2.0\r\n${HEAD}\r\n`, 505],
  ])('%s', async (_name, refused, status) => {
    const alone = await send(refused + touch.repeat(20))
    expect(alone.statuses).toEqual([status])
    const body = JSON.parse(alone.text.slice(alone.text.indexOf('\r\n\r\n')))
    expect(body).toMatchObject({ data: null, errors: [body.message] })
    expect((await send(touch + refused + touch)).statuses).toEqual([200, status])
    expect(done).toEqual(['touch'])
  })
})

it('handles the requests of a connection one after the other, up to a limit', async () => {
  const wait = `POST /v1/wait HTTP/1.1\r\n${HEAD}Content-Length: 0\r\n\r\n`
  const answers = send(wait + touch.repeat(2) + last + touch)
  await expect.poll(() => done).toEqual(['wait'])
  release()
  expect((await answers).statuses).toEqual([200, 200, 200, 200])
  const many = send(wait + touch.repeat(100))
  await expect.poll(() => done).toEqual(['wait', 'touch', 'touch', 'touch', 'wait'])
  release()
  expect((await many).statuses).toEqual([...Array(16).fill(200), 503])
  expect(done).toHaveLength(4 + 16)
})
