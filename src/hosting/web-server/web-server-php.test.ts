import { once } from 'node:events'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { VisitorRequest } from '../php/pool/pool.ts'
import { PhpBodyTooLarge, PhpBusy, PhpCrashed, PhpTimeout } from '../php/runtime.ts'
import { ask, createTestSite, KEY, ok, type TestSite } from './test-support.ts'
import { HostStarting } from './web-server.ts'

let site: TestSite
beforeEach(async () => {
  site = await createTestSite()
})
afterEach(() => site.remove())

describe('PHP', () => {
  test('gets the request as the visitor sent it, and the edge’s facts about the visitor', async () => {
    let seen: VisitorRequest | undefined
    let body = ''
    const port = await site.start(async (request) => {
      seen = request
      for await (const chunk of request.body ?? []) body += chunk
      return ok()
    })
    await ask(port, '/a/b?c=%20d', {
      method: 'POST',
      body: 'form',
      headers: { 'X-Own': '1', proxy: 'x', 'X-Stead-More': '1' },
    })
    expect(seen).toMatchObject({
      method: 'POST',
      path: '/a/b?c=%20d',
      script: '/wordpress/index.php',
      remoteAddress: '192.0.2.7',
      https: true,
      // The port is Stead’s, not the one in the visitor’s request.
      host: 'site.test:443',
    })
    expect(body).toBe('form')
    const names = seen!.headers.filter((_, i) => i % 2 === 0)
    expect(names).toEqual(expect.arrayContaining(['X-Own', 'host']))
    expect(names.filter((name) => /stead|proxy$|connection/i.test(name))).toEqual([])
    await ask(port, '/wp-admin/')
    expect(seen).toMatchObject({ script: '/wordpress/wp-admin/index.php', body: null })
  })

  test('503 with Retry-After instead of the 500 of a WordPress without its database server, and no other replacement', async () => {
    let isAway = true
    const answers = (status: number) => () => ok('Error establishing a database connection', [], status)
    const start = (status: number) =>
      site.start(answers(status), undefined, undefined, undefined, undefined, async () => isAway)
    const port = await start(500)
    const { status, headers, text } = await ask(port, '/')
    expect([status, headers['retry-after']]).toEqual([503, '5'])
    expect(text).not.toContain('Error establishing')
    isAway = false
    expect((await ask(port, '/')).status).toBe(500)
  })

  test('serves the prepared page of a new site to the edge that requests it for all visitors, and to no others', async () => {
    const firstPages = {
      take: async (siteId: number) => ok(`made by ${siteId}`, ['Link', '</>', 'X-Stead-Shows', '/']),
    }
    const port = await site.start(() => ok('PHP'), undefined, undefined, undefined, firstPages)
    const forAll = { host: 'site.test', 'x-forwarded-proto': 'http', 'x-stead-for-all': '1' }
    const { text, headers } = await ask(port, '/', { headers: forAll })
    const { link, 'x-stead-shows': shows, 'x-stead-renderer': renderer } = headers
    expect([text, link, shows, renderer]).toEqual(['made by 7', '</>', '/', 'php'])
    const { 'x-stead-for-all': _, ...ofVisitor } = forAll
    const others: [string, Parameters<typeof ask>[2]][] = [
      ['/', { headers: ofVisitor }],
      ['/?p=1', { headers: forAll }],
      ['/a-page/', { headers: forAll }],
      ['/', { headers: { ...forAll, host: 'other.test' } }],
      ['/', { headers: { ...forAll, 'x-forwarded-proto': 'https' } }],
      ['/', { headers: forAll, method: 'POST', body: 'a=1' }],
    ]
    for (const [path, options] of others) expect((await ask(port, path, options)).text).toBe('PHP')
  })

  test('answers with status, repeated headers, and body, but without headers of the connection', async () => {
    // biome-ignore format: pairs
    const headers = [
      'Set-Cookie', 'a=1', 'Set-Cookie', 'b=2', 'X-Powered-By', 'PHP', 'Connection', 'close', 'Transfer-Encoding', 'gzip',
      'Upgrade', 'h2c', 'X-Stead-Renderer', 'forged', 'Content-Type', 'text/html', 'Status', '200 OK',
    ]
    const port = await site.start(() => ok('page', headers, 404))
    const reply = await ask(port, '/')
    expect([reply.status, reply.text]).toEqual([404, 'page'])
    expect(reply.headers['set-cookie']).toEqual(['a=1', 'b=2'])
    expect(reply.headers['x-stead-renderer']).toBe('php')
    for (const name of ['x-powered-by', 'upgrade', 'status']) expect(reply.headers[name]).toBeUndefined()
    expect(reply.headers['transfer-encoding']).toBe('chunked')
  })

  test('tells the edge what a page shows, or not to store it if that is invalid', async () => {
    const shows: Record<string, string> = {
      '/one': '/slug/',
      '/two': '/ /caf%c3%a9/',
      '/empty': '',
      '/relative': 'slug',
      '/star': '/a/ *',
      '/many': Array.from({ length: 11 }, (_, index) => `/${index}`).join(' '),
      '/long': `/${'x'.repeat(4_096)}`,
    }
    const port = await site.start(({ path }) => ok('page', ['X-Stead-Shows', shows[path] as string]))
    const told = async (path: string) => {
      const { headers } = await ask(port, path)
      return [path, headers['x-stead-shows'], headers['x-stead-cache']]
    }
    for (const path of ['/one', '/two']) expect(await told(path)).toEqual([path, shows[path], undefined])
    for (const path of ['/empty', '/relative', '/star', '/many', '/long'])
      expect(await told(path)).toEqual([path, undefined, 'private'])
  })

  test('cannot break the framing of the connection that it shares with other sites', async () => {
    const injected = 'helloHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nEVIL'
    const lengths = ['5', '500', 'x', '-1']
    const port = await site.start((request) => {
      if (request.path === '/two') return ok('hello', ['Content-Length', '5', 'Content-Length', '9'])
      if (request.path === '/line') return ok('hello', ['X-A', 'a\r\nContent-Length: 1'])
      if (request.path === '/status') return ok('hello', [], 101)
      return ok(injected, ['Content-Length', lengths[Number(request.path.slice(1))] as string])
    })
    expect((await ask(port, '/0')).text).toBe('hello')
    await expect(ask(port, '/1')).rejects.toThrow()
    for (const path of ['/2', '/3']) expect((await ask(port, path)).text).toBe(injected)
    expect((await ask(port, '/two')).text).toBe('hello')
    expect((await ask(port, '/line')).status).toBe(502)
    expect((await ask(port, '/status')).status).toBe(502)
    const head = await ask(port, '/0', { method: 'HEAD' })
    expect([head.headers['content-length'], head.text]).toEqual(['5', ''])
  })

  test('502, 503, 504, and 500, depending on the error', async () => {
    const faults: Record<string, Error> = {
      '/busy': new PhpBusy('full'),
      '/starting': new HostStarting('soon'),
      '/slow': new PhpTimeout('late'),
      '/crash': new PhpCrashed('gone'),
      '/restart': Object.assign(new Error('terminating connection'), { code: '57P01' }),
      '/cut': new Error('Connection terminated unexpectedly'),
      '/lock': Object.assign(new Error('canceling statement'), { code: '57014' }),
      '/bug': new Error('other'),
    }
    const port = await site.start((request) => Promise.reject(faults[request.path]))
    for (const path of ['/busy', '/starting', '/restart', '/cut', '/lock']) {
      const { status, headers, text } = await ask(port, path)
      expect([path, status, headers['retry-after']]).toEqual([path, 503, '5'])
      expect(text.includes('Too many visitors')).toBe(path === '/busy')
    }
    expect((await ask(port, '/slow')).status).toBe(504)
    expect((await ask(port, '/crash')).status).toBe(502)
    expect((await ask(port, '/bug')).status).toBe(500)
  })

  test('does not make a crash in the middle of a page look like its end', async () => {
    const port = await site.start(() => ({
      status: 200,
      headers: [],
      body: Readable.from(
        (async function* () {
          yield 'part'
          throw new PhpCrashed('gone')
        })(),
      ),
    }))
    await expect(ask(port, '/')).rejects.toThrow()
    expect((await ask(port, '/style.css')).status).toBe(200)
  })

  test('413 by announced length before PHP runs, and when PHP finds a body too long, without closing the connection', async () => {
    let ran = 0
    const port = await site.start(async (request) => {
      ran++
      let bytes = 0
      for await (const chunk of request.body ?? []) {
        bytes += (chunk as Buffer).length
        if (bytes > 1000) throw new PhpBodyTooLarge('too long')
      }
      return ok()
    }, 1000)
    const large = Buffer.alloc(4 << 20)
    expect((await ask(port, '/', { method: 'POST', body: large })).status).toBe(413)
    expect(ran).toBe(0)
    const chunked = await ask(port, '/', { method: 'POST', body: large, headers: { 'transfer-encoding': 'chunked' } })
    expect(chunked.status).toBe(413)
    expect(ran).toBe(1)
    expect((await ask(port, '/', { method: 'POST', body: Buffer.alloc(1000) })).status).toBe(200)
  })

  test('learns the length of a body; a refused request is answered before its body, and the rest is limited', async () => {
    const announced: (number | undefined)[] = []
    const port = await site.start(async (request) => {
      announced.push(request.announcedBytes)
      throw new PhpBusy('full')
    })
    const head = (length: string) =>
      `POST / HTTP/1.1\r\nHost: site.test\r\nX-Stead-Key: ${KEY}\r\nX-Stead-Site: 7\r\n${length}\r\n\r\n`
    for (const length of ['Content-Length: 900000', 'Transfer-Encoding: chunked']) {
      const socket = connect(port, '127.0.0.1').on('error', () => {})
      const ended = new Promise((resolve) => socket.once('close', resolve))
      socket.write(head(length))
      const [answer] = (await once(socket, 'data')) as [Buffer]
      expect(answer.toString()).toMatch(/^HTTP\/1\.1 503 [\s\S]*Retry-After: 5/)
      if (length.startsWith('Content')) {
        // The connection is usable again after the rest.
        socket.write(Buffer.alloc(900_000))
        socket.write(head('Content-Length: 0'))
        expect(String(await once(socket, 'data'))).toMatch(/^HTTP\/1\.1 503/)
        socket.destroy()
        continue
      }
      const chunk = Buffer.concat([Buffer.from('100000\r\n'), Buffer.alloc(1 << 20), Buffer.from('\r\n')])
      let sent = 0
      while (!socket.destroyed && sent < 200) {
        sent++
        if (!socket.write(chunk)) await Promise.race([once(socket, 'drain').catch(() => {}), ended])
      }
      expect(sent).toBeLessThan(100)
    }
    expect(announced).toEqual([900_000, undefined, undefined])
  })

  test('is free again while a visitor on a slow connection still reads', async () => {
    const page = Buffer.alloc(4 << 20, 'x')
    let taken = false
    const port = await site.start(() => {
      const body = Readable.from(
        (async function* () {
          for (let at = 0; at < page.length; at += 1 << 16) yield page.subarray(at, at + (1 << 16))
          taken = true
        })(),
        { objectMode: false },
      )
      return { status: 200, headers: [], body }
    })
    const socket = connect(port, '127.0.0.1')
    socket.pause()
    socket.write(
      `GET / HTTP/1.1\r\nHost: site.test\r\nConnection: close\r\nX-Stead-Key: ${KEY}\r\nX-Stead-Site: 7\r\n\r\n`,
    )
    while (!taken) await new Promise(setImmediate)
    let received = 0
    socket.on('data', (chunk) => {
      received += chunk.length
    })
    socket.resume()
    await once(socket, 'close')
    expect(received).toBeGreaterThan(page.length)
  })

  test('learns that the visitor has disconnected, before and during its response', async () => {
    const events: string[] = []
    const port = await site.start((request, signal) => {
      signal?.addEventListener('abort', () => events.push(`abort ${request.path}`))
      if (request.path === '/before') {
        events.push('asked')
        return new Promise(() => {})
      }
      const body = new Readable({ read() {} })
      body.push('part')
      body.on('close', () => events.push('body closed'))
      return { status: 200, headers: [], body }
    })
    for (const path of ['/before', '/during']) {
      const socket = connect(port, '127.0.0.1')
      socket.write(`GET ${path} HTTP/1.1\r\nHost: site.test\r\nX-Stead-Key: ${KEY}\r\nX-Stead-Site: 7\r\n\r\n`)
      if (path === '/before') while (!events.includes('asked')) await new Promise(setImmediate)
      else await once(socket, 'data')
      socket.destroy()
      while (!events.includes(`abort ${path}`)) await new Promise(setImmediate)
    }
    while (!events.includes('body closed')) await new Promise(setImmediate)
  })
})

test('is started, without a page, when an edge announces a visitor', async () => {
  const port = await site.start(() => {
    throw new Error('asked for a page')
  })
  const stranger = await ask(port, '/.stead/wake', { headers: { 'x-stead-wake': '1', 'x-stead-key': 'wrong' } })
  expect([stranger.status, site.woken]).toEqual([403, []])
  const { status, body } = await ask(port, '/.stead/wake', { headers: { 'x-stead-wake': '1' } })
  expect([status, body.length, site.woken]).toEqual([204, 0, [7]])
})

test('the monitoring gets no page of a sleeping site, unless it may wake it, and is no visit', async () => {
  let pages = 0
  const port = await site.start(() => {
    pages++
    return ok()
  })
  const asked = async (look: string) => (await ask(port, '/', { headers: { 'x-stead-look': look } })).status
  site.isAwake = false
  expect([await asked('light'), await asked('page'), pages]).toEqual([204, 204, 0])
  expect([await asked('wake'), pages]).toEqual([200, 1])
  site.isAwake = true
  expect([await asked('light'), await asked('page'), pages]).toEqual([204, 200, 2])
})
