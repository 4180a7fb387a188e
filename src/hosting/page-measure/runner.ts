/**
 * Runs only inside the jail (jail-arguments.ts): opens one page with Chromium and measures it with Lighthouse, opens
 * two and compares their pictures, or takes pictures of several before and after an update. It also prints a page that
 * it reads from standard input. Chromium reaches only the host's proxy, through the socket that is bound into the jail.
 * The result is one line of JSON on standard output, or one for each page of which it takes pictures.
 */
import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { parseArgs } from 'node:util'
import type { Browser, Page } from 'puppeteer-core'

const { values } = parseArgs({
  options: {
    url: { type: 'string', default: '' },
    device: { type: 'string', default: 'mobile' },
    chromium: { type: 'string', default: '' },
    audits: { type: 'string', default: '' },
    old: { type: 'string', default: '' },
    new: { type: 'string', default: '' },
    shoot: { type: 'boolean', default: false },
    print: { type: 'boolean', default: false },
    uid: { type: 'string' },
  },
})

/** Changes the user, before anything of the page is processed. */
function becomeUser(uid: string | undefined): void {
  if (uid === undefined) return
  process.setgroups?.([])
  process.setgid?.(Number(uid))
  process.setuid?.(Number(uid))
}

/** Opens the only way out, as a port of the jail’s own loopback. */
async function openEgressSocket(): Promise<number> {
  const server = createServer((inside) => {
    const outside = connect('/way-out/socket')
    inside.on('error', () => outside.destroy())
    outside.on('error', () => inside.destroy())
    inside.pipe(outside).pipe(inside)
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  return (server.address() as { port: number }).port
}

const chromiumFlags = (port: number): string[] => [
  // The jail is the wall. As the jail's unprivileged user, Chromium cannot build its own sandbox.
  '--no-sandbox',
  `--proxy-server=socks5://127.0.0.1:${port}`,
  // Names of this machine go to the proxy too.
  '--proxy-bypass-list=<-loopback>',
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
  '--disable-quic',
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--disable-dev-shm-usage',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-breakpad',
  '--disable-crash-reporter',
  '--no-first-run',
  '--mute-audio',
]

async function main(): Promise<void> {
  becomeUser(values.uid)
  const port = await openEgressSocket()
  const { default: puppeteer } = await import('puppeteer-core')
  const browser = await puppeteer.launch({
    executablePath: values.chromium,
    pipe: true,
    headless: true,
    userDataDir: '/tmp/profile',
    args: [...chromiumFlags(port), ...(values.shoot ? STILL_IMAGES : [])],
    protocolTimeout: values.old || values.shoot ? LONGEST_MS : 180_000,
  })
  if (values.shoot) await shootAll(browser)
  else await write(await taskOf()(browser))
  await browser.close().catch(() => {})
}

/** Animated images show their first picture. */
const STILL_IMAGES = ['--blink-settings=imageAnimationPolicy=2']

const write = (result: object): Promise<void> =>
  new Promise((written, reject) =>
    process.stdout.write(`${JSON.stringify(result)}\n`, (error) => (error ? reject(error) : written())),
  )

function taskOf(): (browser: Browser) => Promise<object> {
  if (values.print) return print
  return values.old ? compare : measure
}

/** Prints the page as PDF. It runs no script. */
async function print(browser: Browser): Promise<object> {
  const page = await browser.newPage()
  await page.setJavaScriptEnabled(false)
  await page.setContent(readFileSync(0, 'utf8'), { waitUntil: 'load' })
  const pdf = await page.pdf({ preferCSSPageSize: true, printBackground: true, tagged: true })
  return { pdf: Buffer.from(pdf).toString('base64') }
}

async function measure(browser: Browser): Promise<object> {
  const { default: lighthouse, desktopConfig } = await import('lighthouse')
  const page = await browser.newPage()
  const found = await lighthouse(
    values.url,
    { output: 'json', logLevel: 'silent', disableFullPageScreenshot: true, maxWaitForLoad: 30_000 },
    values.device === 'desktop' ? desktopConfig : undefined,
    page,
  )
  if (!found) throw new Error('Lighthouse found nothing')
  const { lhr } = found
  const { audits, categories, finalDisplayedUrl, lighthouseVersion, fetchTime, runtimeError } = lhr
  const wanted = values.audits.split(',').filter(Boolean)
  return {
    finalDisplayedUrl,
    lighthouseVersion,
    fetchTime,
    runtimeError,
    categories: Object.fromEntries(Object.entries(categories).map(([id, { title, score }]) => [id, { title, score }])),
    audits: Object.fromEntries(wanted.map((id) => [id, audits[id]])),
  }
}

/** Of a picture: what a visitor sees first, and some of what follows. A longer page takes no more memory. */
const [WIDTH, HEIGHT] = [1280, 1600]
/** For a page to load. What it shows then counts. */
const LOAD_MS = 20_000
const LOOK_MS = 250
/** Longer than the host lets the jail live. */
const LONGEST_MS = 3_600_000

/** Returns how long the processes of the jail were ready to run without a processor. */
function waitedMs(): number {
  let nanoseconds = 0
  for (const name of readdirSync('/proc'))
    if (/^\d+$/.test(name))
      try {
        nanoseconds += Number(readFileSync(`/proc/${name}/schedstat`, 'latin1').split(' ')[1] ?? 0)
      } catch {
        // It has ended.
      }
  return nanoseconds / 1e6
}

/** Opens a page, and waits until it is idle. On a busy machine it has more time, or its picture would be half a page. */
async function open(page: Page, url: string): Promise<void> {
  await within(LOAD_MS, (signal) => page.goto(url, { waitUntil: 'networkidle2', timeout: 0, signal }))
}

/** Ends the work after a time. The time in which the jail had no processor does not count. */
async function within(ms: number, work: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
  const [startedAt, waitedBefore] = [performance.now(), waitedMs()]
  const late = new AbortController()
  const look = setInterval(() => {
    const waited = Math.max(0, waitedMs() - waitedBefore)
    if (performance.now() - startedAt - waited >= ms) late.abort()
  }, LOOK_MS)
  try {
    await work(late.signal)
  } catch (error) {
    if (!late.signal.aborted) throw error
  } finally {
    clearInterval(look)
  }
}

/** Closes what a page opens. Behind a window or a dialog it is not painted, and the browser waits for its picture. */
function undisturbed(page: Page): Page {
  page.on('dialog', (dialog) => dialog.dismiss().catch(() => {}))
  page.on('popup', (window) => window?.close().catch(() => {}))
  return page
}

async function compare(browser: Browser): Promise<object> {
  const { default: pixelmatch } = await import('pixelmatch')
  const before = await pictureOf(browser, values.old, 'The page of the old site')
  const after = await pictureOf(browser, values.new, 'The page of this site')
  const count = pixelmatch(before, after, undefined, WIDTH, HEIGHT)
  return { different: (100 * count) / (WIDTH * HEIGHT) }
}

/** @throws Error whose message begins with `what` */
async function pictureOf(browser: Browser, url: string, what: string): Promise<Uint8Array> {
  const { PNG } = await import('pngjs')
  // nothing that a page stores is there for the next one
  const context = await browser.createBrowserContext({ downloadBehavior: { policy: 'deny' } })
  try {
    const page = undisturbed(await context.newPage())
    await page.setViewport({ width: WIDTH, height: HEIGHT, deviceScaleFactor: 1 })
    await page.emulateMediaFeatures([{ name: 'prefers-reduced-motion', value: 'reduce' }])
    await open(page, url)
    const picture = PNG.sync.read(await wholePicture(page, { type: 'png' }))
    if (picture.width !== WIDTH || picture.height !== HEIGHT) throw new Error('its picture has another size')
    return picture.data
  } catch (error) {
    throw new Error(`${what} could not be opened in a browser: ${(error as Error).message.split('\n')[0]}`)
  } finally {
    await context.close().catch(() => {})
  }
}

/** Of one page, until two in a row are the same. A page with motion never reaches that. */
const MOST_TRIES = 4

interface Format {
  readonly type: 'png' | 'jpeg'
  readonly quality?: number
}

/**
 * Takes pictures until two in a row are the same. On a busy machine the browser leaves out tiles that it has not painted
 * yet: one in six pictures of a very long page at a load of 12.
 * @param tries the most pictures
 * @param prepare called before each of them
 */
async function wholePicture(page: Page, how: Format, tries = MOST_TRIES, prepare = async () => {}): Promise<Buffer> {
  const take = async () => {
    await prepare()
    return Buffer.from(await page.screenshot({ ...how, captureBeyondViewport: false }))
  }
  let before = await take()
  for (let taken = 1; taken < tries; taken++) {
    const again = await take()
    if (again.equals(before)) break
    before = again
  }
  return before
}

const QUALITY = 70
/** Of the picture of differences: a long text that moved would be larger than the host accepts. */
const QUALITIES = [QUALITY, 40, 15, 1]
const MOST_DIFFERENCE = 700_000
/** Pictures are compared in squares of this size. Text that appears or moves changes several. */
const SQUARE = 16
/** Fewer pixels of a square are noise. */
const LEAST_PIXELS = 6
const MOST_ERRORS = 20

interface Size {
  readonly width: number
  readonly height: number
}
interface Picture extends Size {
  readonly data: Uint8Array
}

/** What the host wants to see, from standard input. */
interface Look {
  readonly pages: readonly {
    readonly page: number
    /** Each visit appends a value of its own, so that no cache answers. */
    readonly url: string
    readonly widths: readonly number[]
  }[]
  /** What pages take for the current time. */
  readonly at: number
  readonly masks: readonly string[]
  /** How many pictures are compared with those from before, at most. 0: this is before the update. */
  readonly looks: number
  /** The share of a picture that may differ, in percent. */
  readonly most: number
}

/** Takes pictures of pages, one after the other. The result of each is there as soon as it is complete. */
async function shootAll(browser: Browser): Promise<void> {
  const look = JSON.parse(readFileSync(0, 'utf8')) as Look
  for (const { page, url, widths } of look.pages) {
    const camera = { browser, look, url, page }
    let seen: object
    try {
      seen = look.looks > 0 ? await shootAfter(camera, widths) : await shootBefore(camera, widths)
    } catch (error) {
      // The host opens the other pages in another browser.
      if (!browser.connected) throw error
      seen = { failed: (error as Error).message }
    }
    await write({ page, ...seen })
  }
}

interface Camera {
  readonly browser: Browser
  readonly look: Look
  readonly url: string
  readonly page: number
}

/** Takes two pictures at each of the widths. */
async function shootBefore(camera: Camera, widths: readonly number[]): Promise<object> {
  const errors = new Set<string>()
  const pictures: object[] = []
  for (const width of widths) {
    const size = { width, height: HEIGHT }
    const [first, second] = [await shotOf(camera, size), await shotOf(camera, size)]
    for (const error of [...first.errors, ...second.errors]) errors.add(error)
    pictures.push({ width, first: first.picture.toString('base64'), second: second.picture.toString('base64') })
  }
  return { pictures, errors: [...errors].slice(0, MOST_ERRORS) }
}

/**
 * Compares pictures at each of the widths with the two from before. The one that is most alike counts, and errors that
 * came with each of them.
 */
async function shootAfter(camera: Camera, widths: readonly number[]): Promise<object> {
  const { looks, most } = camera.look
  const errors = new Set<string>()
  const pictures: object[] = []
  for (const width of widths) {
    const size = { width, height: HEIGHT }
    const comparison = await comparisonWith(`/pictures/${camera.page}/${width}`, size)
    let always: string[] | undefined
    let found: Compared = { different: 100 }
    for (let taken = 0; taken < looks && (found.different > most || always?.length !== 0); taken++) {
      const shot = await shotOf(camera, size)
      always = always?.filter((error) => shot.errors.includes(error)) ?? [...shot.errors]
      found = comparison.compare(shot)
    }
    for (const error of always ?? []) errors.add(error)
    pictures.push({ width, ...found })
  }
  return { pictures, errors: [...errors].slice(0, MOST_ERRORS) }
}

/** Where a page has a line with numbers, in pixels: left, top, right, bottom. */
type Box = readonly [number, number, number, number]

interface Shot {
  /** JPEG. */
  readonly picture: Buffer
  readonly errors: readonly string[]
  readonly numbers: readonly Box[]
}

/**
 * Compares pictures with two from before. Squares that differ between those two change without an update, and so do
 * those that differ between two later ones. They do not count, and neither do numbers.
 * @param place the beginning of the paths of the two
 */
async function comparisonWith(place: string, size: Size): Promise<{ compare(shot: Shot): Compared }> {
  const { width, height } = size
  const { default: jpeg } = await import('jpeg-js')
  const { default: pixelmatch } = await import('pixelmatch')
  const read = (bytes: Uint8Array): Picture => {
    const picture = jpeg.decode(bytes, { useTArray: true, maxMemoryUsageInMB: 256 })
    if (picture.width !== width || picture.height !== height) throw new Error('a picture has another size')
    return picture
  }
  const bytesOf = (name: string) => readFileSync(`${place}-${name}.jpg`)
  const [first, second] = [bytesOf('first'), bytesOf('second')]
  const changes = new Uint8Array(width * height * 4)
  const changed = (one: Picture, other: Picture, least: number) => {
    pixelmatch(one.data, other.data, changes.fill(0), width, height, { diffMask: true, includeAA: true })
    return squaresOf(changes, size, least)
  }
  const pictures = { before: read(second), after: [] as { read: Picture; bytes: Buffer; changed: boolean[] }[] }
  const ignored = first.equals(second)
    ? new Array<boolean>(squareCount(size)).fill(false)
    : withNeighbours(changed(read(first), pictures.before, 1), size)
  const add = (squares: readonly boolean[]) => {
    for (const [index, isSet] of squares.entries()) if (isSet) ignored[index] = true
  }
  const share = (squares: readonly boolean[]) => {
    const counted = ignored.filter((isIgnored) => !isIgnored).length
    const different = squares.filter((isChanged, index) => isChanged && !ignored[index]).length
    return counted === 0 ? 0 : (100 * different) / counted
  }
  return {
    compare({ picture: bytes, numbers }) {
      if (bytes.equals(second)) return { different: 0 }
      add(squaresIn(numbers, size))
      const now = read(bytes)
      const previous = pictures.after.at(-1)
      if (previous) add(withNeighbours(changed(previous.read, now, 1), size))
      pictures.after.push({ read: now, bytes, changed: changed(pictures.before, now, LEAST_PIXELS) })
      const [best] = pictures.after.toSorted((one, other) => share(one.changed) - share(other.changed))
      const different = best ? share(best.changed) : 0
      if (!best || different === 0) return { different: 0 }
      const output = new Uint8Array(width * height * 4)
      pixelmatch(pictures.before.data, best.read.data, output, width, height, { includeAA: true })
      let difference = ''
      for (const quality of QUALITIES) {
        difference = Buffer.from(jpeg.encode({ width, height, data: output }, quality).data).toString('base64')
        if (difference.length <= MOST_DIFFERENCE) break
      }
      return { different, after: best.bytes.toString('base64'), difference }
    },
  }
}

/** In percent. The pictures are missing if nothing differs. */
interface Compared {
  readonly different: number
  readonly after?: string
  readonly difference?: string
}

const squareCount = ({ width, height }: Size): number => Math.ceil(width / SQUARE) * Math.ceil(height / SQUARE)

/** Returns for each square whether one of the boxes is in it. */
function squaresIn(boxes: readonly Box[], { width, height }: Size): boolean[] {
  const columns = Math.ceil(width / SQUARE)
  const squares = new Array<boolean>(squareCount({ width, height })).fill(false)
  for (const [left, top, right, bottom] of boxes)
    for (let row = Math.floor(Math.max(0, top) / SQUARE); row * SQUARE < Math.min(bottom, height); row++)
      for (let column = Math.floor(Math.max(0, left) / SQUARE); column * SQUARE < Math.min(right, width); column++)
        squares[row * columns + column] = true
  return squares
}

/** Returns for each square whether a mask of differences has enough pixels in it. */
function squaresOf(mask: Uint8Array, { width, height }: Size, least: number): boolean[] {
  const [columns, rows] = [Math.ceil(width / SQUARE), Math.ceil(height / SQUARE)]
  const counts = new Uint32Array(columns * rows)
  for (let at = 0; at < width * height; at++)
    if (mask[at * 4 + 3] !== 0) {
      const square = Math.floor(at / width / SQUARE) * columns + Math.floor((at % width) / SQUARE)
      counts[square] = (counts[square] ?? 0) + 1
    }
  return [...counts].map((count) => count >= least)
}

function withNeighbours(squares: readonly boolean[], { width, height }: Size): boolean[] {
  const [columns, rows] = [Math.ceil(width / SQUARE), Math.ceil(height / SQUARE)]
  const steps = [-1, 0, 1]
  const isSet = (column: number, row: number) =>
    column >= 0 && column < columns && row >= 0 && row < rows && squares[row * columns + column] === true
  return squares.map((_, index) => {
    const [column, row] = [index % columns, Math.floor(index / columns)]
    return steps.some((down) => steps.some((right) => isSet(column + right, row + down)))
  })
}

/** Of a page that moves, so that a text that is being typed is complete. */
const MOST_TRIES_OF_SHOT = 8
/** Between two of them, in the time of the page: between two letters of a text that is being typed, less passes. */
const BETWEEN_SHOTS_MS = 150
/** For what a page loads after it looks complete. */
const LATE_MS = 5000

async function shotOf({ browser, look, url }: Camera, size: Size): Promise<Shot> {
  const context = await browser.createBrowserContext({ downloadBehavior: { policy: 'deny' } })
  try {
    const page = undisturbed(await context.newPage())
    const errors = new Set<string>()
    const add = (text: string) => {
      const short = text.split('\n', 1)[0]?.slice(0, 200) ?? ''
      // The network is not the page's doing.
      if (short !== '' && !short.startsWith('Failed to load resource')) errors.add(short)
    }
    page.on('pageerror', (error) => add(error.message))
    page.on('console', (message) => message.type() === 'error' && add(message.text()))
    const crash = new Promise<never>((_, reject) => page.on('error', reject))
    return await Promise.race([crash, shoot(page, { look, url, size, errors })])
  } catch (error) {
    throw new Error(`The page could not be opened in a browser: ${(error as Error).message.split('\n')[0]}`)
  } finally {
    await context.close().catch(() => {})
  }
}

async function shoot(
  page: Page,
  { look, url, size, errors }: Pick<Camera, 'look' | 'url'> & { size: Size; errors: ReadonlySet<string> },
): Promise<Shot> {
  await page.setViewport({ ...size, deviceScaleFactor: 1 })
  await page.emulateMediaFeatures([{ name: 'prefers-reduced-motion', value: 'reduce' }])
  await page.evaluateOnNewDocument(calm, { at: look.at, still: STILL, hidden: hiddenElements(look.masks) })
  await open(page, url + randomUUID())
  await within(LATE_MS, (signal) => page.waitForNetworkIdle({ idleTime: 100, timeout: 0, signal }))
  const how = { type: 'jpeg', quality: QUALITY } as const
  let waitMs = 0
  const prepare = async () => {
    await page.evaluate(hold, waitMs)
    waitMs = BETWEEN_SHOTS_MS
  }
  const picture = await wholePicture(page, how, MOST_TRIES_OF_SHOT, prepare)
  const numbers = look.looks > 0 ? await page.evaluate(numbersOf, { ...size, most: MOST_NUMBERS }) : []
  return { picture, errors: [...errors], numbers }
}

/** Elements of common plugins that ask for consent. Whether they appear depends on more than the page. */
const consentBanners = [
  '#cookie-law-info-bar',
  '#cookie-notice',
  '#CybotCookiebotDialog',
  '#onetrust-consent-sdk',
  '#cmplz-cookiebanner-container',
  '#moove_gdpr_cookie_info_bar',
  '#BorlabsCookieBox',
  '#usercentrics-root',
  '.cky-consent-container',
  '.cc-window',
]
/** Dates, and what plays. */
const moving = ['time', '.entry-date', '.posted-on', 'video', 'iframe']

/** Styles that stop motion. */
const STILL =
  '*,*::before,*::after{animation:none!important;transition:none!important;caret-color:transparent!important}'

/** Returns selectors of what changes between two visits. The owner has chosen the last ones. */
const hiddenElements = (masks: readonly string[]): string[] => [...consentBanners, ...moving, ...masks]

/** Runs in the page before its own scripts: the same clock, the same random numbers, no carousels. */
function calm({ at, still, hidden }: { at: number; still: string; hidden: readonly string[] }): void {
  const RealDate = Date
  const now = () => at + Math.floor(performance.now())
  class CalmDate extends RealDate {
    constructor(...given: unknown[]) {
      if (given.length === 0) super(now())
      else super(...(given as [number]))
    }
    static override now = now
  }
  globalThis.Date = CalmDate as DateConstructor
  let seed = 1
  Math.random = () => {
    seed = (seed * 16_807) % 2_147_483_647
    return seed / 2_147_483_647
  }
  crypto.getRandomValues = <Values extends ArrayBufferView>(values: Values): Values => {
    const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength)
    for (const index of bytes.keys()) bytes[index] = Math.floor(Math.random() * 256)
    return values
  }
  const [interval, timeout] = [globalThis.setInterval, globalThis.setTimeout]
  const never = 2 ** 31 - 1
  const slow = (real: typeof setInterval, most: number) =>
    ((run: () => void, ms = 0, ...rest: unknown[]) => real(run, ms >= most ? never : ms, ...rest)) as typeof setInterval
  globalThis.setInterval = slow(interval, 1000)
  // A clock may also be a timeout that begins the next one.
  globalThis.setTimeout = slow(timeout as unknown as typeof setInterval, 1000) as unknown as typeof setTimeout
  const styles = new CSSStyleSheet()
  styles.replaceSync(still)
  for (const selector of hidden)
    try {
      // Each is parsed alone, as one rule, so it cannot end the rules of others.
      styles.insertRule(`${selector}{visibility:hidden!important;opacity:0!important}`)
    } catch {
      // The browser does not know this selector, so it hides nothing.
    }
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, styles]
}

/** Runs in the page before each picture: ends animations that styles do not stop. */
async function hold(afterMs: number): Promise<void> {
  // A timer of the page that is due earlier comes first, however busy the machine is.
  await new Promise((resolve) => setTimeout(resolve, afterMs))
  // On a busy machine, a picture is that of an earlier frame. The page may have replaced this function.
  await new Promise((resolve) => {
    requestAnimationFrame(() => requestAnimationFrame(resolve))
    setTimeout(resolve, 900)
  })
  for (const animation of document.getAnimations())
    try {
      animation.finish()
    } catch {
      // It has no end.
      animation.cancel()
    }
  for (const drawing of document.querySelectorAll('svg')) {
    drawing.pauseAnimations()
    drawing.setCurrentTime(0)
  }
}

const MOST_NUMBERS = 3000

/** Runs in the page after a picture: returns the lines with numbers. Other numbers are wider, and move their line. */
function numbersOf({ height, most }: Size & { most: number }): [number, number, number, number][] {
  const found: [number, number, number, number][] = []
  const texts = document.createTreeWalker(document, NodeFilter.SHOW_TEXT)
  const range = document.createRange()
  const blockOf = (element: Element | null): Element | null =>
    element?.parentElement && /^inline|^contents/.test(getComputedStyle(element).display)
      ? blockOf(element.parentElement)
      : element
  for (let node = texts.nextNode(); node && found.length < most; node = texts.nextNode())
    for (const { index, 0: number } of (node.nodeValue ?? '').matchAll(/\d[\d.,:%]*/g)) {
      range.setStart(node, index)
      range.setEnd(node, index + number.length)
      const block = blockOf(node.parentElement)?.getBoundingClientRect()
      for (const { left, top, right, bottom } of range.getClientRects())
        if (bottom > 0 && top < height && found.length < most)
          found.push([Math.min(left, block?.left ?? left), top, Math.max(right, block?.right ?? right), bottom])
    }
  return found
}

main().then(
  () => process.exit(0),
  (error: Error) => {
    process.stderr.write(`${error.message}\n`, () => process.exit(1))
  },
)
