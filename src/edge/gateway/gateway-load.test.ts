import { once } from 'node:events'
import { Agent, request as httpRequest } from 'node:http'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openGc } from '../../../test/support/gc.ts'
import { type Cleanup, createCleanup, routeTo, startGateway, startHost } from '../test-support.ts'

let cleanup: Cleanup
beforeEach(() => {
  cleanup = createCleanup()
})
afterEach(() => cleanup.run())

test('leaves nothing behind after 10,000 requests', async () => {
  const upstream = await startHost(cleanup, (_request, response) => void response.end('ok'))
  const { gateway, port } = await startGateway(cleanup, { 'site.test': routeTo(upstream) })
  const agent = new Agent({ keepAlive: true, maxSockets: 8 })
  cleanup.add(() => agent.destroy())
  const one = async () => {
    const request = httpRequest({ port, host: '127.0.0.1', headers: { host: 'site.test' }, agent }).end()
    const [response] = await once(request, 'response')
    response.resume()
    await once(response, 'end')
    return response.statusCode
  }
  const gc = openGc()
  const heap = () => {
    gc()
    return process.memoryUsage().heapUsed
  }
  const before = heap()
  for (let done = 0; done < 10_000; done += 8)
    expect(await Promise.all(Array.from({ length: 8 }, one))).toEqual(Array(8).fill(200))
  // Includes compiled code. A leaked request would take some thousand bytes.
  expect((heap() - before) / 10_000).toBeLessThan(500)
  const open = await new Promise((resolve) =>
    gateway.server.getConnections((_error, connections) => resolve(connections)),
  )
  expect(open).toBe(8)
})
