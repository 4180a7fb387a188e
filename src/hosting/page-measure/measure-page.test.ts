import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findAbilities } from '../php/wasm/containment.ts'
import { findChromium } from './find-chromium.ts'
import { findModules, MeasureFailed, measurePage } from './measure-page.ts'

const chromium = await findChromium(undefined)
const { bubblewrap } = await findAbilities('auto')
const MINUTES = 240_000

describe.skipIf(!chromium || !bubblewrap || !findModules())('a page in Chromium', () => {
  let [inside, outside]: Server[] = []
  let insidePort: number
  const asked: string[] = []
  const reached: string[] = []
  const pages: Record<string, () => string> = {
    '/': () =>
      '<!doctype html><html lang="en"><title>Shop</title><meta name="viewport" content="width=device-width"><h1>Hello</h1>',
    '/hostile': () => `<!doctype html><title>x</title><h1>Hello</h1>
      ${[`127.0.0.1:${insidePort}`, `localhost:${insidePort}`, `[::1]:${insidePort}`].map((at) => `<img src="http://${at}/">`)}
      <img src="file:///etc/passwd"><script>
        fetch('http://127.0.0.1:${insidePort}/fetched').catch(() => {})
        new WebSocket('ws://127.0.0.1:${insidePort}/socket')
      </script>`,
    '/endless': () => '<!doctype html><h1>Hello</h1><script>for (;;);</script>',
    '/greedy': () =>
      '<!doctype html><h1>Hello</h1><script>window.all = []; setInterval(() => all.push(new Uint8Array(5e7).fill(1)), 10)</script>',
  }
  const listen = async (server: Server) => {
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
    return (server.address() as AddressInfo).port
  }
  let outsidePort: number
  beforeAll(async () => {
    inside = createServer((request, response) => {
      asked.push(String(request.url))
      response.end()
    })
    inside.on('upgrade', (request, socket) => {
      asked.push(String(request.url))
      socket.destroy()
    })
    insidePort = await listen(inside)
    outside = createServer(({ url }, response) => {
      response.setHeader('content-type', 'text/html')
      response.end((pages[String(url)] ?? (() => ''))())
    })
    outsidePort = await listen(outside)
  })
  afterAll(() => {
    for (const each of [inside, outside]) {
      each?.closeAllConnections()
      each?.close()
    }
  })

  const measure = (
    path: string,
    more: { mostMs?: number; mostProcessorMs?: number; mostBytes?: number; isOpen?: boolean } = {},
  ) =>
    measurePage({
      chromium: chromium as string,
      url: `http://shop.example.com${path}`,
      device: 'mobile',
      audits: ['largest-contentful-paint', 'final-screenshot'],
      signal: new AbortController().signal,
      async reach(host, port): Promise<Socket | undefined> {
        reached.push(`${host}:${port}`)
        if (host === 'shop.example.com') return connect(outsidePort, '127.0.0.1')
        return more.isOpen ? connect(port, '127.0.0.1') : undefined
      },
      ...more,
    })

  test(
    'is measured',
    async () => {
      const result = (await measure('/')) as { categories: Record<string, unknown>; audits: Record<string, object> }
      expect(Object.keys(result.categories)).toEqual(expect.arrayContaining(['performance', 'accessibility', 'seo']))
      expect(result.audits['largest-contentful-paint']).toMatchObject({ numericUnit: 'millisecond' })
      expect(JSON.stringify(result.audits['final-screenshot'])).toContain('data:image/jpeg;base64,')
    },
    MINUTES,
  )

  test(
    'reaches only what the proxy allows: no server of this machine, by any name',
    async () => {
      asked.length = 0
      reached.length = 0
      await measure('/hostile')
      // The page did try, and the proxy noticed.
      expect(reached).toContain(`127.0.0.1:${insidePort}`)
      expect(asked).toEqual([])
      await measure('/hostile', { isOpen: true })
      expect(asked).toEqual(expect.arrayContaining(['/', '/fetched', '/socket']))
    },
    MINUTES,
  )

  test(
    'is ended when it takes too long',
    async () => {
      await expect(measure('/endless', { mostMs: 10_000 })).rejects.toThrow(MeasureFailed)
    },
    MINUTES,
  )

  test(
    'is ended when it takes too much processor time',
    async () => {
      await expect(measure('/endless', { mostProcessorMs: 3000 })).rejects.toThrow(/3 seconds of processor time/)
    },
    MINUTES,
  )

  test(
    'is ended when it takes too much memory',
    async () => {
      await expect(measure('/greedy')).rejects.toThrow(/1536 MB of memory/)
    },
    MINUTES,
  )
})
