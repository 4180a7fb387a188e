import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { expect, test } from 'vitest'
import { FetchTimedOut } from './fetch-errors.ts'
import { postPublic } from './post-public.ts'

test('returns the status, even if the body never ends or breaks off', async (context) => {
  const server = createServer((request, response) => {
    response.writeHead(202)
    if (request.url === '/never') response.write('begun')
    else if (request.url === '/silent') response.flushHeaders()
    else response.write('broken', () => response.destroy())
  }).listen(0, '127.0.0.1')
  context.onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server, 'listening')
  const post = (path: string, signal = new AbortController().signal) =>
    postPublic(`http://127.0.0.1:${(server.address() as AddressInfo).port}/${path}`, {
      ...{ allowPrivate: true, headers: {}, body: '{}', timeoutMs: 60_000, startBytes: 100, signal },
    }).then(({ status, start }) => [status, start.toString()])
  const [never, silent, broken] = await Promise.all([post('never'), post('silent'), post('broken')])
  expect([never, silent]).toEqual([
    [202, 'begun'],
    [202, ''],
  ])
  expect(broken[0]).toBe(202)
  const stopped = new AbortController()
  const asked = post('never', stopped.signal)
  stopped.abort(new Error('stopping'))
  await expect(asked).rejects.toThrow('stopping')
})

test.each([
  ['the head', 'HTTP/1.1 200 OK\r\nx-drip: ', new FetchTimedOut('%: no response in 0.5 s')],
  ['the body', 'HTTP/1.1 202 Accepted\r\ntransfer-encoding: chunked\r\n\r\n', 202],
] as const)('does not wait for a receiver that drips %s and never ends', async (part, beginning, expected) => {
  const left = Promise.withResolvers<void>()
  const server = createTcpServer((socket) => {
    socket.write(beginning)
    const drip = part === 'the head' ? 'x' : '1\r\nx\r\n'
    const timer = setInterval(() => socket.write(drip), 20)
    socket.on('error', () => {}).resume()
    socket.on('close', () => {
      clearInterval(timer)
      left.resolve()
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { signal } = new AbortController()
  const terms = { allowPrivate: true, headers: {}, body: '{}', startBytes: 100_000, signal }
  const asked = postPublic(`${base}/drip`, { ...terms, timeoutMs: part === 'the head' ? 500 : 60_000 })
  if (expected === 202) expect(await asked).toMatchObject({ status: 202, start: expect.any(Buffer) })
  else await expect(asked).rejects.toThrow(new FetchTimedOut(expected.message.replace('%', `${base}/drip`)))
  await left.promise
  server.close()
})
