import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { truncate, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ask, createTestSite, KEY, type TestSite } from './test-support.ts'

let site: TestSite
beforeEach(async () => {
  site = await createTestSite()
})
afterEach(() => site.remove())

describe('access', () => {
  test('403 without the right key, 421 for the edge alone for a site that is not on this host', async () => {
    const port = await site.start()
    for (const key of ['', 'x', `${KEY.slice(0, -1)}X`, `${KEY}x`])
      expect((await ask(port, '/style.css', { headers: { 'x-stead-key': key } })).status).toBe(403)
    for (const id of ['8', '', 'x', '7x', '-1']) {
      const { status, headers } = await ask(port, '/style.css', { headers: { 'x-stead-site': id } })
      expect([status, headers['x-stead-elsewhere'], headers['cache-control']], id).toEqual([421, '1', 'no-store'])
    }
  })
})

test('503 for the files and PHP of a site that an operation is changing', async () => {
  const port = await site.start(() => Promise.reject(new Error('PHP was asked')), 1 << 20, undefined, {
    isClosed: true,
  })
  for (const path of ['/style.css', '/', '/wp-login.php', '/nothing.css']) {
    const reply = await ask(port, path)
    expect([path, reply.status, reply.headers['retry-after']]).toEqual([path, 503, '5'])
    expect(reply.text).toContain('Maintenance work is in progress')
  }
})

describe('files', () => {
  test('200 with type, length, and validators; the same for HEAD without a body', async () => {
    const port = await site.start()
    const reply = await ask(port, '/style.css')
    expect([reply.status, reply.text]).toEqual([200, 'body{}'])
    expect(reply.headers).toMatchObject({
      'content-type': 'text/css; charset=utf-8',
      'content-length': '6',
      'last-modified': 'Tue, 14 Nov 2023 22:13:20 GMT',
      'x-content-type-options': 'nosniff',
      'accept-ranges': 'bytes',
      'cache-control': 'public, max-age=86400',
      'x-stead-renderer': 'static',
    })
    expect(reply.headers.etag).toMatch(/^"[^"]+"$/)
    const head = await ask(port, '/style.css', { method: 'HEAD' })
    expect([head.status, head.text, head.headers['content-length']]).toEqual([200, '', '6'])
    expect((await ask(port, '/style.css?ver=6.8')).headers['cache-control']).toBe('public, max-age=31536000, immutable')
    expect((await ask(port, '/empty.txt')).headers['content-length']).toBe('0')
  })

  test('allows fonts for every origin, and sends .svgz as compressed SVG', async () => {
    const port = await site.start()
    const headersOf = async (name: string) => {
      await writeFile(join(site.folder, 'home/web', name), 'x')
      const { headers } = await ask(port, `/${name}`)
      return [headers['access-control-allow-origin'], headers['content-encoding']]
    }
    for (const name of ['a.woff2', 'a.WOFF', 'a.ttf', 'a.otf', 'a.eot'])
      expect([name, ...(await headersOf(name))]).toEqual([name, '*', undefined])
    expect(await headersOf('a.svgz')).toEqual([undefined, 'gzip'])
    expect(await headersOf('a.css')).toEqual([undefined, undefined])
  })

  test('304 for a current copy', async () => {
    const port = await site.start()
    const { etag, 'last-modified': modified } = (await ask(port, '/style.css')).headers as Record<string, string>
    // biome-ignore format: a table
    for (const [headers, status] of [
      [{ 'if-none-match': etag }, 304],
      [{ 'if-none-match': `"x", W/${etag}` }, 304],
      [{ 'if-none-match': '*' }, 304],
      [{ 'if-none-match': '"x"' }, 200],
      [{ 'if-modified-since': modified }, 304],
      [{ 'if-modified-since': 'Tue, 14 Nov 2023 22:13:19 GMT' }, 200],
      [{ 'if-modified-since': 'yesterday' }, 200],
      [{ 'if-none-match': '"x"', 'if-modified-since': modified }, 200],
    ] as [Record<string, string>, number][]) {
      const reply = await ask(port, '/style.css', { headers })
      expect([reply.status, reply.headers.etag], JSON.stringify(headers)).toEqual([status, etag])
    }
  })

  test('206 for one range, 416 past the end, 200 for an unknown or outdated range', async () => {
    const port = await site.start()
    const { etag } = (await ask(port, '/style.css')).headers as Record<string, string>
    // biome-ignore format: a table
    for (const [range, status, text, contentRange] of [
      ['bytes=0-0', 206, 'b', 'bytes 0-0/6'],
      ['bytes=1-3', 206, 'ody', 'bytes 1-3/6'],
      ['bytes=4-', 206, '{}', 'bytes 4-5/6'],
      ['bytes=-2', 206, '{}', 'bytes 4-5/6'],
      ['bytes=-99', 206, 'body{}', 'bytes 0-5/6'],
      ['bytes=2-99', 206, 'dy{}', 'bytes 2-5/6'],
      ['bytes=6-', 416, undefined, 'bytes */6'],
      ['bytes=-0', 416, undefined, 'bytes */6'],
      ['bytes=3-1', 200, 'body{}', undefined],
      ['bytes=0-0,2-3', 200, 'body{}', undefined],
      ['lines=0-1', 200, 'body{}', undefined],
      ['bytes=-', 200, 'body{}', undefined],
    ] as [string, number, string?, string?][]) {
      const reply = await ask(port, '/style.css', { headers: { range } })
      expect([reply.status, reply.headers['content-range']], range).toEqual([status, contentRange])
      if (text !== undefined) expect(reply.text).toBe(text)
    }
    const changed = { range: 'bytes=0-0', 'if-range': '"other"' }
    expect((await ask(port, '/style.css', { headers: changed })).status).toBe(200)
    expect((await ask(port, '/style.css', { headers: { ...changed, 'if-range': etag as string } })).status).toBe(206)
  })

  test('streams large files, whole and in part', async () => {
    const port = await site.start()
    const bytes = randomBytes(5 << 20)
    await writeFile(join(site.folder, 'home/web/wp-content/uploads/film.mp4'), bytes)
    const whole = await ask(port, '/wp-content/uploads/film.mp4')
    expect(whole.headers['content-type']).toBe('video/mp4')
    expect(whole.body.equals(bytes)).toBe(true)
    const part = await ask(port, '/wp-content/uploads/film.mp4', { headers: { range: 'bytes=1000000-3999999' } })
    expect(part.body.equals(bytes.subarray(1_000_000, 4_000_000))).toBe(true)
  })

  test('ends the connection when a file shrinks while it is sent', async () => {
    const port = await site.start()
    const path = join(site.folder, 'home/web/wp-content/uploads/film.mp4')
    await writeFile(path, randomBytes(64 << 20))
    const socket = connect(port, '127.0.0.1')
    socket.write(
      `GET /wp-content/uploads/film.mp4 HTTP/1.1\r\nHost: site.test\r\nX-Stead-Key: ${KEY}\r\nX-Stead-Site: 7\r\n\r\n`,
    )
    await once(socket, 'readable')
    await truncate(path, 1000)
    let received = 0
    socket.on('data', (chunk) => {
      received += chunk.length
    })
    socket.on('error', () => {})
    await once(socket, 'close')
    expect(received).toBeLessThan(64 << 20)
  })

  test('405 for other methods, redirects for folders, pages for refusals', async () => {
    const port = await site.start()
    const post = await ask(port, '/style.css', { method: 'POST', body: 'x' })
    expect([post.status, post.headers.allow]).toEqual([405, 'GET, HEAD'])
    const folder = await ask(port, '/wp-admin?x=1')
    expect([folder.status, folder.headers.location]).toEqual([301, '/wp-admin/?x=1'])
    expect((await ask(port, '/wp-admin', { method: 'POST', body: 'x' })).status).toBe(308)
    expect((await ask(port, '/.env')).status).toBe(404)
    expect((await ask(port, '/%00')).status).toBe(400)
  })

  test.skipIf(process.platform !== 'linux')('leaves no descriptor open', async () => {
    const port = await site.start()
    const open = () => readdirSync('/proc/self/fd').length
    await ask(port, '/style.css')
    const before = open()
    for (let i = 0; i < 50; i++)
      for (const [path, headers] of [
        ['/style.css', {}],
        ['/style.css', { 'if-none-match': '*' }],
        ['/style.css', { range: 'bytes=9-' }],
        ['/wp-admin', {}],
        ['/wp-admin/', {}],
        ['/none', {}],
      ] as [string, Record<string, string>][])
        await ask(port, path, { headers })
    expect(open()).toBeLessThanOrEqual(before + 4)
  })
})
