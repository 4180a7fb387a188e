import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { findAbilities } from '../php/wasm/containment.ts'
import { findChromium } from './find-chromium.ts'
import { findModules } from './measure-page.ts'
import {
  type ComparedPictures,
  comparePicturesAfter,
  type PictureOptions,
  type PictureWidth,
  type TakenPictures,
  takePictures,
  type UnseenPage,
} from './take-pictures.ts'

const chromium = await findChromium(undefined)
const { bubblewrap } = await findAbilities('auto')
const MINUTES = 600_000

const page = (content: string) => `<!doctype html><title>x</title><body style="margin: 0">${content}`
const box = (style: string, text = '') => `<div style="height: 200px; font-size: 60px; ${style}">${text}</div>`
const script = (code: string) =>
  page(`${box('background: teal')}<p id="a" style="font-size: 60px"></p>
  <script>const a = document.getElementById('a'); ${code}</script>`)

/** Two pictures of one pixel, in turn. */
const gif = Buffer.from(
  [
    '47494638396101000100800000ff00000000ff',
    '21ff0b4e45545343415045322e30030100000021f90404090000002c00000000010001000002024401',
    '0021f90404090000002c00000000010001000002024c01003b',
  ].join(''),
  'hex',
)

describe.skipIf(!chromium || !bubblewrap || !findModules())('pictures of pages', () => {
  let server: Server
  let port: number
  let folder: string
  /** Returns the content of an address, by the number of its visit. */
  let pages: Record<string, (visit: number) => string | Promise<string>>
  let visits: Map<string, number>
  /** With their queries. */
  let visited: string[]
  let widths: readonly PictureWidth[]
  beforeAll(async () => {
    server = createServer(async ({ url = '' }, response) => {
      visited.push(url)
      const path = url.replace(/[?&]stead-look=.*/, '')
      const visit = (visits.get(path) ?? 0) + 1
      visits.set(path, visit)
      if (path === '/moving.gif') return response.setHeader('content-type', 'image/gif').end(gif)
      response.setHeader('content-type', 'text/html')
      response.end((await pages[path]?.(visit)) ?? '')
    })
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
    port = (server.address() as AddressInfo).port
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  beforeEach(async () => {
    visits = new Map()
    visited = []
    pages = {}
    widths = [390]
    folder = await mkdtemp(join(tmpdir(), 'stead-pictures-'))
    // The user of the jail reads them.
    await chmod(folder, 0o755)
  })
  afterEach(() => rm(folder, { recursive: true }))

  let jails: number
  const options = (paths: readonly string[], more: Partial<PictureOptions> & { masks?: readonly string[] }) => ({
    chromium: chromium as string,
    pages: paths.map((path, index) => ({ page: index, url: `http://shop.example.com${path}`, widths })),
    masks: [],
    at: 1_000_000,
    signal: new AbortController().signal,
    reach: async (host: string) => (host === 'shop.example.com' ? connect(port, '127.0.0.1') : undefined),
    async inTurn<Result>(visit: () => Promise<Result>) {
      jails++
      return visit()
    },
    ...more,
  })
  const take = async (paths: readonly string[], more: Partial<PictureOptions> & { masks?: readonly string[] } = {}) => {
    jails = 0
    const seen: (TakenPictures | UnseenPage)[] = []
    await takePictures(options(paths, more), async (found) => {
      seen.push(found)
      if ('failed' in found) return
      await mkdir(join(folder, String(found.page)), { recursive: true })
      for (const { width, first, second } of found.pictures)
        for (const [name, picture] of Object.entries({ first, second }))
          await writeFile(join(folder, String(found.page), `${width}-${name}.jpg`), Buffer.from(picture, 'base64'))
    })
    return seen.toSorted((one, other) => one.page - other.page)
  }
  const picturesOf = (seen: TakenPictures | UnseenPage | undefined) => {
    if (!seen || 'failed' in seen) throw new Error(`no pictures: ${seen?.failed}`)
    const [{ first, second } = { first: '', second: '' }] = seen.pictures
    return { first, isSame: first === second }
  }
  /** Compares pages with what {@link take} took. */
  const compare = async (paths: readonly string[], { looks = 1 } = {}) => {
    const seen: (ComparedPictures | UnseenPage)[] = []
    const more = { pictures: folder, looks, most: 0.3 }
    await comparePicturesAfter({ ...options(paths, {}), ...more }, async (found) => void seen.push(found))
    return seen.map((found) => ('failed' in found ? found : (found.pictures[0]?.different ?? -1)))
  }

  test(
    'ask no cache',
    async () => {
      pages['/'] = (visit) => page(visit === 3 ? '<p style="height: 400px; background: red"></p>' : '<p>the same</p>')
      pages['/?page_id=2'] = () => page('<p>the same</p>')
      await take(['/', '/?page_id=2'])
      await compare(['/', '/?page_id=2'], { looks: 2 })
      const asked = visited.filter((url) => url.includes('stead-look'))
      expect(new Set(asked).size).toBe(7)
      const isOfPage = (url: string) => /^\/(\?|\?page_id=2&)stead-look=[\da-f-]+$/.test(url)
      expect(asked.filter((url) => !isOfPage(url))).toEqual([])
    },
    MINUTES,
  )

  test(
    'leave masked elements out, whatever else is in the list',
    async () => {
      pages['/'] = (visit) =>
        page(`<p style="height: 100px; background: red">the same</p>
          <div id="a" style="height: ${visit * 40}px; background: blue"></div>
          <div id="b" style="position: absolute; top: 800px; visibility: visible; background: green">visit ${visit}</div>`)
      const look = async (masks: readonly string[]) => picturesOf((await take(['/'], { masks }))[0])
      expect((await look([])).isSame).toBe(false)
      expect((await look(['#a'])).isSame).toBe(false)
      const wrong = ['p[x="', 'p:no-such', 'p(', '!', 'p\\', 'p,,']
      const { first, isSame } = await look([...wrong, '#a', '#b', ...wrong])
      expect(isSame).toBe(true)
      // None of these may hide the rest of the page, or show it in another way.
      const hostile = ['p{display:none} x', 'x{} p', '@media all{p', '</style>', 'x/*', 'p{color:red;x']
      expect((await look([...hostile, '#a', '#b', ...hostile])).first).toBe(first)
    },
    MINUTES,
  )

  test(
    'are taken in one browser, and each page is reported before the next one is complete',
    async () => {
      const reported: number[] = []
      const { promise, resolve } = Promise.withResolvers<void>()
      pages['/a'] = () => page('a')
      pages['/b'] = async () => {
        await promise
        return page('b')
      }
      jails = 0
      await takePictures(options(['/a', '/b'], {}), async (seen) => {
        reported.push(seen.page)
        resolve()
      })
      expect([reported, jails]).toEqual([[0, 1], 1])
    },
    MINUTES,
  )

  test.each<[what: string, code: string, limits: Partial<PictureOptions>, failed: RegExp, jails: number]>([
    ['has a script without end', 'for (;;);', { mostMs: 12_000 }, /longer than 12 seconds/, 2],
    ['takes processors', 'for (;;);', { mostProcessorMs: 15_000 }, /15 seconds of processor time/, 2],
    [
      'takes memory',
      'window.all = []; setInterval(() => all.push(new Uint8Array(5e7).fill(1)), 10)',
      {},
      /1536 MB of memory/,
      2,
    ],
    [
      'crashes its tab',
      `let d = document.body; for (let n = 0; n < 50000; n++) d = d.appendChild(document.createElement('div')); d.textContent = 'x'`,
      {},
      /could not be opened in a browser: Page crashed/,
      1,
    ],
  ])(
    'of the other pages are there if one %s',
    async (_what, code, limits, failed, browsers) => {
      pages['/a'] = () => page('a')
      pages['/bad'] = () => page(`<script>${code}</script>`)
      pages['/c'] = () => page('c')
      const [before, bad, after] = await take(['/a', '/bad', '/c'], limits)
      expect([before, after].map((each) => picturesOf(each).isSame)).toEqual([true, true])
      expect(bad).toEqual({ page: 1, failed: expect.stringMatching(failed) })
      expect(jails).toBe(browsers)
    },
    MINUTES,
  )

  test(
    'let other sites have their turn after some time',
    async () => {
      pages['/a'] = () => page('a')
      pages['/b'] = () => page('b')
      expect((await take(['/a', '/b'], { turnMs: 0 })).map((each) => picturesOf(each).isSame)).toEqual([true, true])
      expect(jails).toBe(2)
    },
    MINUTES,
  )

  test(
    'differ only where an update changed something, and each page has its own',
    async () => {
      let moved = 0
      pages['/a'] = () => page(box(`margin-top: ${moved}px; background: red`, 'Welcome'))
      pages['/b'] = () => page(box('background: green', 'Welcome'))
      await take(['/a', '/b'])
      expect(await compare(['/a', '/b'])).toEqual([0, 0])
      moved = 20
      const [a, b] = await compare(['/a', '/b'], { looks: 3 })
      expect([(a as number) > 1, b]).toEqual([true, 0])
    },
    MINUTES,
  )

  test(
    'differ when a long text has moved, although the picture of the difference is large',
    async () => {
      widths = [1280]
      let moved = 0
      const text = 'Some words that fill the page from the top to the end. '.repeat(400)
      pages['/'] = () => page(`<p style="margin-top: ${moved}px; font-size: 15px">${text}</p>`)
      await take(['/'])
      moved = 20
      const [different] = await compare(['/'])
      expect(different).toBeGreaterThan(1)
    },
    MINUTES,
  )

  test(
    'are the same in spite of what moves by itself',
    async () => {
      const moves: Record<string, string> = {
        picture: page('<img src="/moving.gif" style="width: 300px; height: 300px; image-rendering: pixelated">'),
        drawing: page(`<svg width="300" height="300"><rect width="50" height="300" fill="red">
          <animate attributeName="width" from="0" to="300" dur="2s" repeatCount="indefinite"/></rect></svg>`),
        style: page(
          '<style>@keyframes go { to { margin-left: 200px } }</style><div style="width: 50px; height: 50px; background: red; animation: go 1s infinite"></div>',
        ),
        animation: script(
          `a.textContent = 'Hello'; a.animate([{ marginLeft: '0' }, { marginLeft: '200px' }], { duration: 900, iterations: Infinity })`,
        ),
        clock: script(
          'const tick = () => { a.textContent = Math.round(performance.now()); setTimeout(tick, 1000) }; setTimeout(tick, 1000)',
        ),
        carousel: script(`let n = 0; setInterval(() => { a.textContent = 'Slide ' + 'x'.repeat(++n) }, 1000)`),
        chance: script('a.textContent = Math.random() + " " + crypto.getRandomValues(new Uint32Array(2)).join()'),
        typing: script(
          `const text = 'Typed by hand'; let n = 0; const type = () => { a.textContent = text.slice(0, ++n); if (n < text.length) setTimeout(type, 120) }; type()`,
        ),
      }
      for (const [name, html] of Object.entries(moves)) pages[`/${name}`] = () => html
      const seen = await take(Object.keys(moves).map((name) => `/${name}`))
      const same = Object.keys(moves).map((name, index) => [name, picturesOf(seen[index]).isSame])
      expect(same).toEqual(Object.keys(moves).map((name) => [name, true]))
    },
    MINUTES,
  )

  test(
    'show what loads late',
    async () => {
      let lateMs = 1500
      pages['/late'] = async () => {
        await pause(lateMs)
        return 'Here it is'
      }
      pages['/'] = () => script(`fetch('/late').then(async (answer) => { a.textContent = await answer.text() })`)
      await take(['/'])
      lateMs = 0
      expect(await compare(['/'])).toEqual([0])
    },
    MINUTES,
  )

  test(
    'do not count numbers, and the lines that they move',
    async () => {
      let people = '7'
      pages['/'] = () => page(box('font-size: 20px', `<b>${people}</b> people are here`) + box('', 'and a text'))
      await take(['/'])
      people = '1,048'
      expect(await compare(['/'])).toEqual([0])
    },
    MINUTES,
  )

  test(
    'do not count what the server chooses by chance: the picture that is most alike counts',
    async () => {
      let shown: readonly string[] = ['green']
      pages['/'] = (visit) => page(box(`background: ${shown[visit % shown.length]}`) + box('', 'and a text'))
      await take(['/'])
      shown = ['red', 'blue']
      const [once] = await compare(['/'])
      expect(once).toBeGreaterThan(1)
      expect(await compare(['/'], { looks: 3 })).toEqual([0])
      shown = ['red']
      const [always] = await compare(['/'], { looks: 3 })
      expect(always).toBe(once)
      shown = ['red', 'red', 'green']
      expect(await compare(['/'], { looks: 3 })).toEqual([0])
    },
    MINUTES,
  )
})
