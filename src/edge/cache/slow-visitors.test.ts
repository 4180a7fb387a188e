/** Bodies in transit count in the budgets, and slow readers still get all of them. */
import { once } from 'node:events'
import { afterEach, describe, expect, test } from 'vitest'
import { Budget } from '../../platform/budgets/budget.ts'
import { createCleanup, eventually, rawConnect } from '../test-support.ts'
import { bodyTerms } from './page-cache.ts'
import { page, startCachedSite, statusOf } from './test-support.ts'

const cleanup = createCleanup()
afterEach(() => cleanup.run())

const MB = 1 << 20
/** More than the kernel buffers for a connection. */
const PAGE = 12 * MB
const text = (count: number) =>
  String(count)
    .padStart(8, '0')
    .repeat(PAGE / 8)

/** Starts a site with pages of 12 MB. */
const large = (memoryBytes: number, bodies = new Budget(bodyTerms(memoryBytes))) =>
  startCachedSite(cleanup, (_request, response, count) => page(response, text(count)), {
    cache: { memoryBytes, mostBodyBytes: 16 * MB, bodies },
  })

/** Sends a request, and does not read the answer yet. */
async function slow(port: number, path: string) {
  const connection = await rawConnect(port, cleanup)
  connection.socket.pause()
  connection.socket.write(`GET ${path} HTTP/1.1\r\nHost: site.test\r\nConnection: close\r\n\r\n`)
  return {
    leave: () => connection.socket.destroy(),
    async read() {
      connection.socket.resume()
      const answer = await connection.closed()
      return answer.slice(answer.indexOf('\r\n\r\n') + 4).replace(/^[0-9a-f]+\r\n|\r\n[0-9a-f]+\r\n(\r\n)?/g, '')
    },
  }
}

describe('a slow visitor', () => {
  test('holds only the stored page while others get it at once, and gets all of it in the end', async () => {
    const bodies = new Budget(bodyTerms(64 * MB))
    const site = await large(64 * MB, bodies)
    const first = await slow(site.port, '/a/')
    await eventually(() => site.cache.stats().entries === 1)
    expect(bodies.used).toBe(0)
    expect(site.cache.stats().heldBytes).toBeGreaterThan(PAGE)
    const quick = await site.get('/a/')
    expect([quick.body === text(1), statusOf(quick).slice(0, 10)]).toEqual([true, 'Stead; hit'])
    expect((await first.read()) === text(1)).toBe(true)
    await eventually(() => site.cache.stats().heldBytes === 0)
  })

  test('leaves nothing behind on disconnect', async () => {
    const bodies = new Budget(bodyTerms(64 * MB))
    const site = await large(64 * MB, bodies)
    const first = await slow(site.port, '/a/')
    await eventually(() => site.cache.stats().heldBytes > 0)
    first.leave()
    await eventually(() => site.cache.stats().heldBytes === 0 && bodies.used === 0)
  })

  test('many of them share bounded memory, are fed as they read, and never get a wrong byte', async () => {
    const bodies = new Budget(bodyTerms(32 * MB))
    const site = await large(32 * MB, bodies)
    const visitors: Awaited<ReturnType<typeof slow>>[] = []
    for (let n = 0; n < 8; n++) {
      visitors.push(await slow(site.port, `/p${n}/`))
      await eventually(() => site.asked.length === n + 1)
      expect(site.cache.stats().bytes + bodies.used).toBeLessThan(64 * MB)
    }
    const bodiesRead = await Promise.all(visitors.map((each) => each.read()))
    for (const [n, body] of bodiesRead.entries()) expect(body === text(n + 1)).toBe(true)
    await eventually(() => site.cache.stats().heldBytes === 0 && bodies.used === 0)
    expect(site.cache.stats().originFetches).toBe(0)
  })
})

test('without memory for its body, a page passes through completely, also to waiting visitors, and is stored the next time', async () => {
  const bodies = new Budget({ ...bodyTerms(32 * MB), each: 2 * MB })
  const site = await large(32 * MB, bodies)
  const [first, second] = await Promise.all([site.get('/a/'), site.get('/a/')])
  expect([first.body.length, second.body.length]).toEqual([PAGE, PAGE])
  expect([bodies.used, site.cache.stats().entries]).toEqual([0, 0])
  Object.assign(bodies.terms, { each: 16 * MB })
  await site.get('/a/')
  expect(statusOf(await site.get('/a/'))).toContain('hit')
})

test('a page that is answered at once holds nothing', async () => {
  const site = await startCachedSite(cleanup, (_request, response) => page(response, 'x'.repeat(50_000)))
  await site.get('/')
  const connection = await rawConnect(site.port, cleanup)
  connection.socket.write('GET / HTTP/1.1\r\nHost: site.test\r\n\r\n')
  await once(connection.socket, 'data')
  expect(site.cache.stats().heldBytes).toBe(0)
})
