import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findAbilities } from '../php/wasm/containment.ts'
import { findChromium } from './find-chromium.ts'
import { findModules } from './measure-page.ts'
import { takePictures } from './take-pictures.ts'

const chromium = await findChromium(undefined)
const { bubblewrap } = await findAbilities('auto')
const MINUTES = 240_000

describe.skipIf(!chromium || !bubblewrap || !findModules())('pictures of a page', () => {
  let server: Server
  let port: number
  let visits = 0
  beforeAll(async () => {
    server = createServer((_request, response) => {
      visits++
      response.setHeader('content-type', 'text/html')
      response.end(`<!doctype html><title>x</title><body style="margin: 0">
        <p style="height: 100px; background: red">the same</p>
        <div id="a" style="height: ${visits * 40}px; background: blue"></div>
        <div id="b" style="position: absolute; top: 800px; visibility: visible; background: green">visit ${visits}</div>`)
    })
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
    port = (server.address() as AddressInfo).port
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })

  const take = async (masks: readonly string[]) => {
    const { pictures } = await takePictures({
      chromium: chromium as string,
      url: 'http://shop.example.com/',
      widths: [390],
      masks,
      at: 1_000_000,
      signal: new AbortController().signal,
      reach: async (host) => (host === 'shop.example.com' ? connect(port, '127.0.0.1') : undefined),
    })
    const [{ first, second } = { first: '', second: '' }] = pictures
    return { first, isSame: first === second }
  }

  test(
    'leave masked elements out, whatever else is in the list',
    async () => {
      expect((await take([])).isSame).toBe(false)
      expect((await take(['#a'])).isSame).toBe(false)
      const wrong = ['p[x="', 'p:no-such', 'p(', '!', 'p\\', 'p,,']
      const { first, isSame } = await take([...wrong, '#a', '#b', ...wrong])
      expect(isSame).toBe(true)
      // None of these may hide the rest of the page, or show it in another way.
      const hostile = ['p{display:none} x', 'x{} p', '@media all{p', '</style>', 'x/*', 'p{color:red;x']
      expect((await take([...hostile, '#a', '#b', ...hostile])).first).toBe(first)
    },
    MINUTES,
  )
})
