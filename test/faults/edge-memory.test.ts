/** What visitors can make an edge process hold: its memory levels off, whatever they send. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { Pool } from 'undici'
import { afterEach, describe, expect, test } from 'vitest'
import { atLength } from '../support/at-length.ts'
import { type EdgeProcess, startEdgeProcess } from '../support/edge.ts'

const CACHE_MB = 32
/** The process without any cache, and what V8 and the allocator keep for a moment. */
const SLACK_MB = 90
/** More addresses than fit, at 15 kB each. */
const ADDRESSES = atLength(9_000, 12_000)
/** About 9 kB each. */
const VISITORS = atLength(6_000, 10_000)

let edge: EdgeProcess | undefined
let pool: Pool | undefined
const sockets: Socket[] = []
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await pool?.destroy()
  await edge?.stop()
})

async function start(body: Buffer | string, env: Record<string, string> = {}): Promise<EdgeProcess> {
  edge = await startEdgeProcess(
    ['one', 'two'],
    (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html', 'x-stead-renderer': 'php' }).end(body)
    },
    { STEAD_EDGE_CACHE_MB: String(CACHE_MB), ...env },
  )
  pool = new Pool(`http://127.0.0.1:${edge.port}`, { connections: 24 })
  return edge
}

/** Sends requests with made-up headers, a few at a time. @returns each distinct status */
async function flood(count: number, request: (number: number) => { path: string; headers?: Record<string, string> }) {
  const statuses = new Set<number>()
  let next = 0
  const visitor = async () => {
    while (next < count) {
      const { path, headers } = request(next++)
      const answer = await (pool as Pool).request({
        method: 'GET',
        path,
        headers: { host: 'one.localhost', ...headers },
      })
      statuses.add(answer.statusCode)
      await answer.body.dump()
    }
  }
  await Promise.all(Array.from({ length: 24 }, visitor))
  return [...statuses]
}

const filler = 'q'.repeat(15_000)

describe('an edge with a cache of 32 MB', () => {
  test(`${ADDRESSES} addresses of 15 kB, and as many of 2 kB, take no more than the cache may`, async () => {
    const process = await start('<p>page</p>')
    await flood(200, (number) => ({ path: `/?warm=${number}` }))
    const before = process.memoryMb()
    expect(await flood(ADDRESSES, (number) => ({ path: `/?a=${number}${filler}` }))).toEqual([200])
    expect(process.memoryMb() - before).toBeLessThan(CACHE_MB + SLACK_MB)
    expect(await flood(ADDRESSES, (number) => ({ path: `/?b=${number}${filler.slice(0, 1_900)}` }))).toEqual([200])
    expect(process.memoryMb() - before).toBeLessThan(CACHE_MB + SLACK_MB)
  })

  test('5,000 addresses of 15 kB do not leave garbage of several times a small cache, with the heap of the real program', async () => {
    const small = { STEAD_EDGE_CACHE_MB: '16', NODE_OPTIONS: '--max-semi-space-size=4' }
    const process = await start('<p>page</p>', small)
    await flood(200, (number) => ({ path: `/?warm=${number}` }))
    const before = process.memoryMb()
    let peak = before
    await flood(5_000, (number) => {
      if (number % 20 === 0) peak = Math.max(peak, process.memoryMb())
      return { path: `/?a=${number}${filler}` }
    })
    expect(peak - before).toBeLessThan(60)
  })

  test(`visitors, browsers, names and codings without end: the second ${VISITORS} add nothing to the first`, async () => {
    const process = await start('<p>page</p>', { STEAD_TRUST_PROXY: '127.0.0.1' })
    const odd = (number: number) => ({
      path: `/page-${number}/${filler.slice(0, 1_000)}`,
      headers: {
        host: number % 3 === 0 ? `n${number}.${'x'.repeat(60)}.localhost` : 'one.localhost',
        'user-agent': `Mozilla/5.0 ${number} ${filler.slice(0, 4_000)}`,
        'accept-encoding': `x-${number}${filler.slice(0, 4_000)}, gzip`,
        'accept-language': `l${number}${filler.slice(0, 2_000)}`,
        'x-forwarded-for': `10.${number >> 16}.${(number >> 8) & 255}.${number & 255}`,
      },
    })
    await flood(VISITORS, odd)
    const before = process.memoryMb()
    await flood(VISITORS, (number) => odd(number + VISITORS))
    expect(process.memoryMb() - before).toBeLessThan(40)
  })

  test('300 visitors that stop reading 3.5 MB each hold at most twice the cache, and others are served', async () => {
    const process = await start(Buffer.alloc(3.5 * 2 ** 20, 'x'))
    const before = process.memoryMb()
    for (let number = 0; number < 300; number++) {
      const socket = connect(process.port, '127.0.0.1')
      sockets.push(socket)
      socket.on('error', () => {})
      await once(socket, 'connect')
      // read the first bytes of the response, and then stop
      socket.once('readable', () => {})
      socket.write(`GET /film?${number} HTTP/1.1\r\nHost: one.localhost\r\n\r\n`)
      if (number % 10 === 9) await flood(1, () => ({ path: '/', headers: { host: 'two.localhost' } }))
    }
    expect(await flood(20, () => ({ path: '/', headers: { host: 'two.localhost' } }))).toEqual([200])
    expect(process.memoryMb() - before).toBeLessThan(2 * CACHE_MB + SLACK_MB)
  })
})

test('400 visitors from 40 addresses that stop reading 7.5 MB each, of 20 sites, fit into the usual cache, without a copy each', {
  timeout: 300_000,
}, async () => {
  const film = Buffer.alloc(7.5 * 2 ** 20, 'x')
  const sites = Array.from({ length: 20 }, (_, number) => `site${number}`)
  edge = await startEdgeProcess(
    ['two', ...sites],
    (_request, response) => {
      const headers = { 'content-type': 'video/mp4', 'content-length': film.length, 'cache-control': 'max-age=86400' }
      response.writeHead(200, { ...headers, 'x-stead-renderer': 'static' }).end(film)
    },
    { STEAD_EDGE_CACHE_MB: '128' },
  )
  pool = new Pool(`http://127.0.0.1:${edge.port}`, { connections: 24 })
  const others = () => flood(2, () => ({ path: '/film.mp4', headers: { host: 'two.localhost' } }))
  await others()
  const before = edge.memoryMb()
  for (let number = 0; number < 400; number++) {
    const socket = connect({ port: edge.port, host: '127.0.0.1', localAddress: `127.0.0.${2 + (number % 40)}` })
    sockets.push(socket)
    socket.on('error', () => {})
    await once(socket, 'connect')
    const answered = once(socket, 'readable')
    socket.write(`GET /film.mp4?${number} HTTP/1.1\r\nHost: ${sites[number % 20]}.localhost\r\n\r\n`)
    await answered
  }
  expect(await others()).toEqual([200])
  expect(edge.memoryMb() - before).toBeLessThan(128 + SLACK_MB)
})
