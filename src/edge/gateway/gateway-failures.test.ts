import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { siteHeader } from '../../platform/http/client/proxy-protocol.ts'
import { defaultLimits } from '../edge-limits.ts'
import type { AccessEntry } from '../records/access-log.ts'
import type { Route } from '../routing/route.ts'
import {
  ask,
  type Cleanup,
  createCleanup,
  eventually,
  rawConnect,
  rawRequest,
  routeTo,
  startGateway,
  startHost,
} from '../test-support.ts'

let cleanup: Cleanup
beforeEach(() => {
  cleanup = createCleanup()
})
afterEach(() => cleanup.run())

const OWN_REQUEST = Buffer.from('GET /own HTTP/1.1\r\nHost: site.test\r\nConnection: close\r\n\r\n')

describe('failures', () => {
  test('cancels the request to the host when its visitor leaves, before and during the answer', async () => {
    const gone: string[] = []
    const asked: string[] = []
    const upstream = await startHost(cleanup, (request, response) => {
      asked.push(request.url as string)
      response.on('close', () => gone.push(request.url as string))
      if (request.url === '/during') response.write('part')
    })
    const { port } = await startGateway(cleanup, { 'site.test': routeTo(upstream) })
    for (const path of ['/before', '/during']) {
      const connection = await rawConnect(port, cleanup)
      connection.socket.write(`GET ${path} HTTP/1.1\r\nHost: site.test\r\n\r\n`)
      await eventually(() => asked.includes(path) && (path === '/before' || connection.text().includes('part')))
      connection.socket.destroy()
      await eventually(() => gone.includes(path))
    }
    const upload = await rawConnect(port, cleanup)
    upload.socket.write('POST /upload HTTP/1.1\r\nHost: site.test\r\nContent-Length: 40000\r\n\r\n')
    upload.socket.write('x'.repeat(20_000))
    await eventually(() => asked.includes('/upload'))
    upload.socket.destroy()
    await eventually(() => gone.includes('/upload'))
  })

  test('cancels and logs the request of a visitor who leaves, and never runs those that waited behind it', async () => {
    const entries: AccessEntry[] = []
    const gone: string[] = []
    let asked = 0
    const upstream = await startHost(cleanup, (request, response) => {
      asked++
      response.on('close', () => gone.push(request.url as string))
    })
    const { port } = await startGateway(
      cleanup,
      { 'site.test': routeTo(upstream) },
      {
        onAccess: (entry) => {
          entries.push(entry)
          throw new Error('a log that is full must not stop the edge')
        },
      },
    )
    const connection = await rawConnect(port, cleanup)
    for (const path of ['/1', '/2', '/3']) connection.socket.write(`GET ${path} HTTP/1.1\r\nHost: site.test\r\n\r\n`)
    await eventually(() => asked === 1)
    connection.socket.destroy()
    await eventually(() => gone.length === 1 && entries.length === 1)
    expect(entries.map((entry) => entry.status)).toEqual([499])
  })

  test('does not make an answer that the host breaks off look complete', async () => {
    const upstream = await startHost(cleanup, (request, response) => {
      response.writeHead(200, request.url === '/length' ? { 'content-length': '100' } : {})
      response.write('part', () => setTimeout(() => response.destroy(), 20))
    })
    const { port } = await startGateway(cleanup, { 'site.test': routeTo(upstream) })
    for (const path of ['/length', '/chunked']) {
      const text = await rawRequest(port, cleanup, `GET ${path} HTTP/1.1\r\nHost: site.test\r\n\r\n`)
      expect(text).toContain('part')
      expect(text).not.toContain('\r\n0\r\n\r\n')
    }
  })

  test('answers 502 without a host, and 504 when it is too slow', async () => {
    const upstream = await startHost(cleanup, () => {})
    const suspected: string[] = []
    const routes = { 'site.test': routeTo(upstream), 'dead.test': routeTo('http://127.0.0.1:1') } as Record<
      string,
      Route
    >
    const limits = { upstream: { ...defaultLimits.upstream, responseTimeoutMs: 200 } }
    const { port } = await startGateway(
      cleanup,
      {},
      { limits, routes: { find: (name) => routes[name], suspect: (name) => void suspected.push(name) } },
    )
    expect((await ask(port, '/', { host: 'dead.test' })).status).toBe(502)
    expect((await ask(port, '/', { host: 'dead.test', method: 'POST', body: 'x'.repeat(1 << 20) })).status).toBe(502)
    expect((await ask(port)).status).toBe(504)
    expect(suspected).toEqual(['dead.test', 'dead.test'])
  })

  test('retries a request on a connection that the host just closed once, but never a POST', async () => {
    let connections = 0
    const asked: string[] = []
    const upstream = await startHost(cleanup, (request, response) => {
      const first = !(request.socket as { seen?: boolean }).seen
      if (first) connections++
      ;(request.socket as { seen?: boolean }).seen = true
      asked.push(`${request.method}`)
      if (first && request.url !== '/always') response.end('ok')
      else request.socket.destroy()
    })
    const { port } = await startGateway(cleanup, { 'site.test': routeTo(upstream) })
    expect((await ask(port)).status).toBe(200)
    expect((await ask(port)).status).toBe(200)
    expect(connections).toBe(2)
    expect(asked).toEqual(['GET', 'GET', 'GET'])
    expect((await ask(port)).status).toBe(200)
    expect((await ask(port, '/', { method: 'POST', body: 'x' })).status).toBe(502)
    asked.length = 0
    expect((await ask(port, '/always')).status).toBe(502)
    expect(asked).toEqual(['GET', 'GET'])
  })

  test('answers 502 when the host process dies, and 200 again as soon as it is back', async () => {
    let child: ChildProcess | undefined
    cleanup.add(() => child?.kill('SIGKILL'))
    const start = async (port: number) => {
      const script = `require('node:http').createServer((q, s) => q.url === '/hang' ? process.send('asked') : s.end('alive'))
        .listen(${port}, '127.0.0.1', function () { process.send(this.address().port) })`
      child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
      return (await once(child, 'message'))[0] as number
    }
    const hostPort = await start(0)
    const { port } = await startGateway(cleanup, { 'site.test': routeTo(`http://127.0.0.1:${hostPort}`) })
    for (let i = 0; i < 8; i++) expect((await ask(port)).body).toBe('alive')
    const hanging = ask(port, '/hang', { method: 'POST', body: 'x' })
    await once(child!, 'message')
    child!.kill('SIGKILL')
    expect((await hanging).status).toBe(502)
    for (let i = 0; i < 8; i++) expect((await ask(port)).status).toBe(502)
    await start(hostPort)
    for (let i = 0; i < 8; i++) expect((await ask(port)).body).toBe('alive')
  })

  test('lets a request in flight finish on close', async () => {
    let finish = () => {}
    const upstream = await startHost(cleanup, (_request, response) => {
      finish = () => response.end('done')
    })
    const { gateway, port } = await startGateway(cleanup, { 'site.test': routeTo(upstream) })
    const reply = ask(port)
    const before = finish
    await eventually(() => finish !== before)
    const closing = gateway.close()
    finish()
    expect((await reply).body).toBe('done')
    await closing
  })
})

describe('access log', () => {
  test('has one entry for each response, also for those that the visitor did not wait for', async () => {
    const entries: AccessEntry[] = []
    let asked = false
    const upstream = await startHost(cleanup, (request, response) => {
      asked = true
      if (request.url === '/wait') return
      response.writeHead(200, { 'x-stead-renderer': 'php' })
      response.end('hello')
    })
    const { port } = await startGateway(
      cleanup,
      { 'site.test': routeTo(upstream) },
      { onAccess: (entry) => void entries.push(entry) },
    )
    await ask(port, '/p?q=1', {
      headers: { referer: 'http://r.test/', 'user-agent': 'test', 'x-forwarded-for': '9.9.9.9' },
    })
    await ask(port, '/', { host: 'nobody.test' })
    asked = false
    const connection = await rawConnect(port, cleanup)
    connection.socket.write('GET /wait HTTP/1.1\r\nHost: site.test\r\n\r\n')
    await eventually(() => asked)
    connection.socket.destroy()
    await eventually(() => entries.length === 3)
    // Stead's own look at this site is not a visit. Others visit through the same connection.
    const own = (looksAt: number) => Buffer.concat([siteHeader('key-of-the-host', 'http', looksAt), OWN_REQUEST])
    for (const looksAt of [7, 8]) {
      const { socket, closed } = await rawConnect(port, cleanup)
      socket.write(own(looksAt))
      expect(await closed()).toContain('hello')
    }
    await eventually(() => entries.length === 4)
    expect(entries[3]).toMatchObject({ request_url: '/own' })
    expect(entries[0]).toMatchObject({
      siteId: 7,
      body_bytes_sent: 5,
      cached: '',
      http2: '',
      http_host: 'site.test',
      http_referer: 'http://r.test/',
      http_user_agent: 'test',
      http_version: 'HTTP/1.1',
      http_x_forwarded_for: '9.9.9.9',
      renderer: 'php',
      request_completion: 'OK',
      request_type: 'GET',
      request_url: '/p?q=1',
      scheme: 'http',
      status: 200,
      type: 'access',
      user_ip: '127.0.0.1',
    })
    expect(Date.parse(entries[0]!.date) / 1000).toBeCloseTo(entries[0]!.timestamp, -1)
    expect(entries[0]!.request_time).toBeGreaterThanOrEqual(0)
    expect(entries[1]).toMatchObject({ siteId: undefined, status: 404, renderer: 'edge' })
    expect(entries[2]).toMatchObject({ status: 499, request_completion: '', body_bytes_sent: 0 })
  })
})
