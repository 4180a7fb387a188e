import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { postPublic } from './post-public.ts'

test('the status decides, also where the body never ends or is broken off', async (context) => {
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
