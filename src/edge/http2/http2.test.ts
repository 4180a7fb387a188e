/** HTTP/2 follows the same rules as HTTP/1. */
import { execFile, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { request as httpsRequest } from 'node:https'
import { promisify } from 'node:util'
import { afterEach, describe, expect, test } from 'vitest'
import type { AccessEntry } from '../records/access-log.ts'
import { createCleanup, eventually, routeTo, startEcho, startHost } from '../test-support.ts'
import { type Decision, handled, type Visit } from '../visit.ts'
import {
  askOn,
  certificateOf,
  END_HEADERS,
  END_STREAM,
  FRAMES,
  fields,
  frame,
  GET,
  openRaw,
  openSession,
  startSecureEdge,
} from './test-support.ts'

const cleanup = createCleanup()
afterEach(() => cleanup.run())

/** Starts an edge before a host that echoes its requests. */
async function start(more: Parameters<typeof startSecureEdge>[2] = {}) {
  const upstream = await startEcho(cleanup)
  const routes = {
    'site.test': routeTo(upstream),
    'other.test': routeTo(upstream, { hostName: 'other.test', siteId: 8 }),
  }
  const edge = await startSecureEdge(cleanup, routes, more)
  return { ...edge, session: await openSession(edge.port, cleanup) }
}

/** Returns the request that the host got. */
const asked = (body: string) =>
  JSON.parse(body) as { method: string; url: string; raw: string[]; headers: Record<string, string>; body: string }

describe('a request', () => {
  test("reaches its site's host as HTTP/1, with the edge's own headers", async () => {
    const entries: AccessEntry[] = []
    const { session, port } = await start({ onAccess: (entry) => void entries.push(entry) })
    const reply = await askOn(session, {
      ':path': '/a?b=c',
      'x-forwarded-for': '192.0.2.1',
      'x-forwarded-proto': 'http',
      te: 'trailers',
    })
    expect([reply.status, reply.reset]).toEqual([200, 0])
    const { method, url, headers } = asked(reply.body)
    expect([method, url]).toEqual(['GET', '/a?b=c'])
    expect(headers).toMatchObject({
      host: 'site.test',
      'x-forwarded-proto': 'https',
      'x-forwarded-for': '127.0.0.1',
      'x-stead-site': '7',
    })
    expect(Object.keys(headers).filter((name) => name.startsWith(':') || name === 'te')).toEqual([])
    await eventually(() => entries.length === 1)
    expect(entries[0]).toMatchObject({
      http2: 'h2',
      http_version: 'HTTP/2.0',
      scheme: 'https',
      status: 200,
      request_completion: 'OK',
      user_ip: '127.0.0.1',
      request_url: '/a?b=c',
    })
    expect(await askOn(session, { ':authority': `SITE.test:${port}` })).toMatchObject({ status: 200 })
  })

  test('may name its host by Host alone, but must not name two', async () => {
    const { port } = await start()
    const raw = await openRaw(port, cleanup)
    const { ':authority': _authority, ...nameless } = GET
    const asks = [
      { ...nameless, host: 'site.test' },
      { ...GET, host: 'SITE.TEST' },
      { ...GET, host: 'other.test' },
    ]
    for (const [i, headers] of asks.entries())
      raw.send(frame(FRAMES.headers, END_STREAM | END_HEADERS, i * 2 + 1, fields(headers)))
    const statuses = await statusesOf(raw, asks.length)
    expect(statuses).toEqual([200, 200, 400])
    raw.send(frame(FRAMES.headers, END_STREAM | END_HEADERS, 9, fields(nameless)))
    await eventually(() => raw.frames.some(({ type, stream }) => type === FRAMES.reset && stream === 9))
  })

  test('for a name that the certificate does not cover gets 421', async () => {
    const { session, port } = await start()
    expect((await askOn(session, { ':authority': 'other.test' })).status).toBe(421)
    expect((await askOn(session, { ':scheme': 'http' })).status).toBe(421)
    expect((await askOn(session)).status).toBe(200)
    const request = httpsRequest({
      port,
      host: '127.0.0.1',
      servername: 'site.test',
      rejectUnauthorized: false,
      agent: false,
      headers: { host: 'other.test' },
    })
    const [response] = await once(request.end(), 'response')
    expect(response.statusCode).toBe(421)
  })

  test('for another name of the same certificate is answered, and a trusted proxy may mix them', async () => {
    const upstream = await startEcho(cleanup)
    const routes = { 'site.test': routeTo(upstream), 'other.test': routeTo(upstream, { hostName: 'other.test' }) }
    const both = await startSecureEdge(cleanup, routes, {}, await certificateOf('site.test', 'other.test'))
    expect((await askOn(await openSession(both.port, cleanup), { ':authority': 'other.test' })).status).toBe(200)
    const proxied = await startSecureEdge(cleanup, routes, { trustProxy: ['127.0.0.1'] })
    const proxy = await openSession(proxied.port, cleanup)
    expect((await askOn(proxy, { ':authority': 'other.test', 'x-forwarded-proto': 'http' })).status).toBe(200)
  })

  test.each([
    ['TRACE', { ':method': 'TRACE' }, 405],
    ['a long address', { ':path': `/${'a'.repeat(20_000)}` }, 414],
    ['an expectation', { expect: 'tea' }, 417],
    ['no path', { ':method': 'OPTIONS', ':path': '*' }, 400],
    ['a name that is none', { ':authority': 'a..b' }, 400],
    ['a site that there is not', { ':authority': 'unknown.test' }, 421],
  ])('that is refused (%s) does not affect others on its connection', async (_what, headers, status) => {
    const { session } = await start()
    const [refused, other] = await Promise.all([askOn(session, headers), askOn(session)])
    expect([refused.status, other.status]).toEqual([status, 200])
  })

  test('with CONNECT opens no tunnel', async () => {
    const { session } = await start()
    const stream = session.request({ ':method': 'CONNECT', ':authority': 'site.test:80' })
    const [headers] = await once(stream, 'response')
    expect([headers[':status'], headers.allow]).toEqual([405, 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'])
  })

  test('has one cookie header, however many pieces arrived', async () => {
    const { session } = await start()
    const reply = await askOn(session, { cookie: ['a=1', 'b=2', 'c=3'] })
    const { raw } = asked(reply.body)
    expect(raw.filter((_text, i) => i % 2 === 1 && raw[i - 1]?.toLowerCase() === 'cookie')).toEqual(['a=1; b=2; c=3'])
  })

  test.each(['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade'])(
    'with %s is malformed, and never reaches a host',
    async (name) => {
      const { port } = await start()
      const raw = await openRaw(port, cleanup)
      raw.send(frame(FRAMES.headers, END_STREAM | END_HEADERS, 1, fields({ ...GET, [name]: 'close' })))
      await eventually(() => raw.frames.some(({ type }) => type === FRAMES.reset))
      expect(raw.frames.some(({ type }) => type === FRAMES.headers)).toBe(false)
    },
  )
})

async function statusesOf(raw: Awaited<ReturnType<typeof openRaw>>, count: number): Promise<number[]> {
  const ends = () => raw.frames.filter(({ type, flags }) => type === FRAMES.data && flags & END_STREAM).length
  await eventually(() => ends() === count)
  const heads = raw.frames.filter(({ type }) => type === FRAMES.headers)
  // Entries of the static table (RFC 7541 appendix A), or a literal of its name.
  const known: Record<number, number> = { 136: 200, 140: 400 }
  return heads.toSorted((a, b) => a.stream - b.stream).map(({ payload }) => known[payload[0] as number] ?? 0)
}

describe('a body', () => {
  test('needs no length, and its trailers are dropped', async () => {
    const { session } = await start()
    const stream = session.request(
      { ':method': 'POST', ':path': '/', ':authority': 'site.test' },
      { waitForTrailers: true },
    )
    stream.on('wantTrailers', () => stream.sendTrailers({ 'x-trailer': 'late' }))
    stream.end('text')
    let text = ''
    stream.on('data', (chunk) => {
      text += chunk
    })
    await once(stream, 'close')
    const { body, headers } = asked(text)
    expect([body, headers['transfer-encoding'], headers['x-trailer']]).toEqual(['text', 'chunked', undefined])
  })

  test('keeps its announced length, and cannot announce a wrong one', async () => {
    const { session } = await start()
    const reply = await askOn(session, { ':method': 'POST', 'content-length': 4 }, 'text')
    expect(asked(reply.body)).toMatchObject({ body: 'text', headers: { 'content-length': '4' } })
    const wrong = await askOn(session, { ':method': 'POST', 'content-length': 4 }, 'longer text')
    expect([wrong.status, wrong.reset > 0]).toEqual([undefined, true])
  })

  test('of many megabytes passes through completely', async () => {
    const { session } = await start()
    const reply = await askOn(session, { ':method': 'PUT' }, Buffer.alloc(5 << 20, 'x'))
    expect(asked(reply.body).body.length).toBe(5 << 20)
  })

  test('is requested with 100 Continue from a client that waits for it', async () => {
    const { session } = await start()
    const stream = session.request({
      ':method': 'POST',
      ':path': '/',
      ':authority': 'site.test',
      expect: '100-continue',
    })
    await once(stream, 'continue')
    stream.end('text')
    let text = ''
    for await (const chunk of stream) text += chunk
    expect(asked(text)).toMatchObject({ body: 'text' })
    expect(asked(text).headers.expect).toBeUndefined()
  })

  test.each(['before its end', 'without an error'])('that is cut off (%s) stays partial at the host', async (how) => {
    const seen: string[] = []
    const upstream = await startHost(cleanup, (request, response) => {
      request.on('data', () => seen.push('data'))
      request.on('end', () => seen.push('end'))
      request.on('close', () => seen.push('close'))
      response.on('error', () => {})
    })
    const { port } = await startSecureEdge(cleanup, { 'site.test': routeTo(upstream) })
    const raw = await openRaw(port, cleanup)
    const piece = frame(FRAMES.data, 0, 1, Buffer.alloc(16_000, 'x'))
    raw.send(frame(FRAMES.headers, END_HEADERS, 1, fields({ ...GET, ':method': 'POST' })), piece, piece)
    await eventually(() => seen.includes('data'))
    const code = Buffer.from([0, 0, 0, how === 'without an error' ? 0 : 8])
    raw.send(frame(FRAMES.reset, 0, 1, code))
    await eventually(() => seen.includes('close'))
    expect(seen).not.toContain('end')
  })

  test('that is cut off is never complete for its reader', async () => {
    const seen: string[] = []
    const read = async ({ request, response }: Visit): Promise<Decision> => {
      response.writeHead(200, [])
      response.write(Buffer.from('reading'))
      try {
        for await (const chunk of request.iterator({ destroyOnReturn: false })) {
          seen.push(`${chunk}`)
          // Like a slow host.
          await eventually(() => request.complete || request.destroyed)
        }
        seen.push('whole')
      } catch {
        seen.push('cut off')
      }
      return handled
    }
    const { port } = await start({ rules: [read] })
    for (const end of [frame(FRAMES.data, END_STREAM, 1), frame(FRAMES.reset, 0, 1, Buffer.alloc(4))]) {
      const raw = await openRaw(port, cleanup)
      raw.send(frame(FRAMES.headers, END_HEADERS, 1, fields({ ...GET, ':method': 'POST' })))
      raw.send(frame(FRAMES.data, 0, 1, Buffer.from('half')))
      await eventually(() => seen.at(-1) === 'half')
      raw.send(end)
      await eventually(() => seen.at(-1) !== 'half')
    }
    expect(seen).toEqual(['half', 'whole', 'half', 'cut off'])
  })

  test('that is refused is not read further, and the next request of the connection is answered', async () => {
    const { session } = await start()
    const stream = session.request(
      { ':method': 'TRACE', ':path': '/', ':authority': 'site.test' },
      { endStream: false },
    )
    stream.on('error', () => {})
    stream.write(Buffer.alloc(60_000))
    const [headers] = await once(stream, 'response')
    expect(headers[':status']).toBe(405)
    stream.resume()
    await once(stream, 'close')
    expect((await askOn(session)).status).toBe(200)
  })
})

describe('an answer', () => {
  const startWith = async (listener: Parameters<typeof startHost>[1], more = {}) => {
    const upstream = await startHost(cleanup, listener)
    const { port, gateway } = await startSecureEdge(cleanup, { 'site.test': routeTo(upstream) }, more)
    return { port, gateway, session: await openSession(port, cleanup) }
  }

  test('has no connection headers, and keeps all others unchanged', async () => {
    const { session } = await startWith((_request, response) => {
      response.writeHead(200, 'Fine', [
        ...[
          'Connection',
          'X-Hop',
          'X-Hop',
          'a',
          'Keep-Alive',
          'timeout=5',
          'Upgrade',
          'h2c',
          'X-Caf\u00e9'.slice(0, 5),
          'caf\u00e9',
        ],
        ...[
          'Set-Cookie',
          'a=1',
          'Set-Cookie',
          'b=2',
          'Last-Modified',
          'x',
          'Last-Modified',
          'y',
          'Transfer-Encoding',
          'chunked',
        ],
      ])
      response.end('text')
    })
    const { headers, body, status } = await askOn(session)
    expect([status, body, headers['x-caf'], headers['set-cookie']]).toEqual([200, 'text', 'caf\u00e9', ['a=1', 'b=2']])
    for (const name of ['connection', 'keep-alive', 'upgrade', 'transfer-encoding', 'x-hop'])
      expect([name, headers[name]]).toEqual([name, undefined])
    expect(headers.date).toBeTruthy()
    expect(headers['x-request-id']).toBeTruthy()
  })

  test('of the edge itself has no connection headers either', async () => {
    const headers = ['Connection', 'close', 'Keep-Alive', 'timeout=5', 'X-A', 'b']
    const { session } = await start({ rules: [() => ({ status: 200, headers })] })
    const reply = await askOn(session)
    expect([reply.status, reply.headers['x-a'], reply.headers.connection]).toEqual([200, 'b', undefined])
  })

  test('may have no body: HEAD, 204, 304', async () => {
    const { session } = await startWith((request, response) => {
      const status = Number(request.url?.slice(1))
      response
        .writeHead(status, { 'X-A': 'b', ...(status === 200 && { 'Content-Length': 4 }) })
        .end(status === 200 ? 'text' : undefined)
    })
    const head = await askOn(session, { ':method': 'HEAD', ':path': '/200' })
    expect(head).toMatchObject({ status: 200, body: '', reset: 0, headers: { 'content-length': '4', 'x-a': 'b' } })
    for (const status of [204, 304])
      expect(await askOn(session, { ':path': `/${status}` })).toMatchObject({ status, body: '', reset: 0 })
    const refused = await askOn(session, { ':method': 'HEAD', ':path': `/${'a'.repeat(20_000)}` })
    expect(refused).toMatchObject({ status: 414, body: '', reset: 0 })
  })

  test('with an invalid status becomes an error, and the edge keeps running', async () => {
    const { session } = await startWith((request, response) =>
      response.writeHead(request.url === '/' ? 200 : 999).end(),
    )
    expect((await askOn(session, { ':path': '/odd' })).status).toBe(502)
    expect((await askOn(session)).status).toBe(200)
  })

  test('arrives as the host makes it, and no stream waits for another', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const { session } = await startWith(async (request, response) => {
      if (request.url !== '/slow') return void response.end('quick')
      response.write('first ')
      await promise
      response.end('last')
    })
    const slow = session.request({ ':path': '/slow', ':authority': 'site.test' })
    let text = ''
    slow.on('data', (chunk) => {
      text += chunk
    })
    await eventually(() => text === 'first ')
    const quick = await Promise.all(Array.from({ length: 20 }, () => askOn(session)))
    expect(quick.every(({ body }) => body === 'quick')).toBe(true)
    expect(text).toBe('first ')
    resolve()
    await once(slow, 'close')
    expect(text).toBe('first last')
  })

  test.each([{ 'Content-Length': 10 }, {}])('that breaks off at the host does not look complete: %o', async (head) => {
    const entries: AccessEntry[] = []
    const { session } = await startWith(
      (_request, response) => {
        response.writeHead(200, head)
        response.write('text', () => response.destroy())
      },
      { onAccess: (entry: AccessEntry) => void entries.push(entry) },
    )
    const reply = await askOn(session)
    expect([reply.status, reply.body, reply.reset > 0]).toEqual([200, 'text', true])
    await eventually(() => entries.length === 1)
    expect(entries[0]?.request_completion).toBe('')
  })

  test("that is no longer wanted stops the host's work", async () => {
    const gone: string[] = []
    const { session } = await startWith((request, response) => {
      request.once('close', () => response.writableFinished || gone.push(request.url as string))
      if (request.url === '/') response.end()
    })
    const stream = session.request({ ':path': '/long', ':authority': 'site.test' })
    stream.on('error', () => {})
    expect((await askOn(session)).status).toBe(200)
    stream.close(8)
    await eventually(() => gone.length > 0)
    expect(gone).toEqual(['/long'])
  })
})

describe('a connection that negotiates HTTP/1.1', () => {
  test('works as before, beside others', async () => {
    const { port } = await start()
    const agents = { port, host: '127.0.0.1', servername: 'site.test', rejectUnauthorized: false, agent: false }
    const [response] = await once(httpsRequest({ ...agents, headers: { host: 'site.test' } }).end(), 'response')
    expect([response.httpVersion, response.statusCode]).toEqual(['1.1', 200])
  })
})

const has = (program: string) => spawnSync(program, ['--version']).status === 0

test.skipIf(!has('curl'))('works with curl', async () => {
  const { port } = await start()
  const what = ['-sk', '--http2', '--resolve', `site.test:${port}:127.0.0.1`, '-w', '%{http_version} %{http_code}']
  const args = [...what, '-o', '/dev/null', '-d', 'a=b', `https://site.test:${port}/`]
  const { stdout } = await promisify(execFile)('curl', args)
  expect(stdout).toBe('2 200')
})

test.skipIf(!has('h2load'))('gives h2load every answer of many at a time', async () => {
  const upstream = await startEcho(cleanup)
  const { port } = await startSecureEdge(cleanup, { localhost: routeTo(upstream) })
  const args = ['-n2000', '-c10', '-m20', '-H', 'cookie: a=b', `https://localhost:${port}/`]
  const { stdout } = await promisify(execFile)('h2load', args)
  expect(stdout).toContain('2000 succeeded, 0 failed')
  expect(stdout).toContain('2000 2xx')
})
