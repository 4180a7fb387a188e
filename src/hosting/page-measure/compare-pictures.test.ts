import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findAbilities } from '../php/wasm/containment.ts'
import { comparePictures } from './compare-pictures.ts'
import { findChromium } from './find-chromium.ts'
import { findModules, MeasureFailed } from './measure-page.ts'

const chromium = await findChromium(undefined)
const { bubblewrap } = await findAbilities('auto')
const MINUTES = 240_000

const page = (content: string) => `<!doctype html><title>x</title><body style="margin: 0">${content}`
const box = (height: number) => page(`<div style="height: ${height}px; background: red"></div>`)

const pages: Record<string, string> = {
  '/plain': box(400),
  // as high as half of the picture
  '/half': box(800),
  '/endless': page('<script>for (;;);</script>'),
  '/asking': page(
    '<div style="height: 400px; background: red"></div><div style="height: 1000000px"></div><script>alert(1); open("/plain"); location.hash = "x"</script>',
  ),
}

describe.skipIf(!chromium || !bubblewrap || !findModules())('two pages in Chromium', () => {
  let server: Server
  let port: number
  beforeAll(async () => {
    server = createServer(({ url }, response) => {
      response.setHeader('content-type', 'text/html')
      response.end(pages[String(url)] ?? '')
    })
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
    port = (server.address() as AddressInfo).port
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })

  const compare = (path: string, more: { old?: string; mostMs?: number } = {}) =>
    comparePictures({
      chromium: chromium as string,
      old: `http://old.example.com${path}`,
      new: 'http://new.example.com/plain',
      signal: new AbortController().signal,
      reach: async (host) => (host.endsWith('.example.com') ? connect(port, '127.0.0.1') : undefined),
      ...more,
    })

  test.each([
    ['another in a quarter of what is seen', '/half', 25],
    ['the same above what is not seen, and behind dialogs and windows', '/asking', 0],
  ])(
    'are %s',
    async (_how, path, share) => {
      expect(await compare(path)).toBe(share)
    },
    MINUTES,
  )

  test(
    'are not compared when one does not answer, and the reason names it',
    async () => {
      const failed = compare('/', { old: 'http://elsewhere.example.org/' })
      await expect(failed).rejects.toThrow(/The page of the old site could not be opened in a browser: net::ERR_/)
      await expect(failed).rejects.toThrow(MeasureFailed)
    },
    MINUTES,
  )

  test(
    'are ended when one takes too long',
    async () => {
      await expect(compare('/endless', { mostMs: 8000 })).rejects.toThrow(/longer than 8 seconds/)
    },
    MINUTES,
  )
})
