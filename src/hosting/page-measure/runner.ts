/**
 * Runs only inside the jail (jail-arguments.ts): opens one page with Chromium and measures it with Lighthouse, opens
 * two and compares their pictures, or takes pictures of one before and after an update. It also prints a page that it
 * reads from standard input. Chromium reaches only the host's proxy, through the socket that is bound into the jail.
 * The result is one line of JSON on standard output.
 */
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
    shot: { type: 'string', default: '' },
    widths: { type: 'string', default: '' },
    at: { type: 'string', default: '0' },
    masks: { type: 'string', default: '[]' },
    compares: { type: 'boolean', default: false },
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
    args: chromiumFlags(port),
    protocolTimeout: values.old || values.shot ? LONGEST_MS : 180_000,
  })
  const result = await taskOf()(browser)
  await new Promise((written) => process.stdout.write(JSON.stringify(result), written))
  await browser.close().catch(() => {})
}

function taskOf(): (browser: Browser) => Promise<object> {
  if (values.print) return print
  if (values.shot) return shoot
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
  const [startedAt, waitedBefore] = [performance.now(), waitedMs()]
  const late = new AbortController()
  const look = setInterval(() => {
    const waited = Math.max(0, waitedMs() - waitedBefore)
    if (performance.now() - startedAt - waited >= LOAD_MS) late.abort()
  }, LOOK_MS)
  try {
    await page.goto(url, { waitUntil: 'networkidle2', timeout: 0, signal: late.signal })
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

/**
 * Takes pictures until two in a row are the same. On a busy machine the browser leaves out tiles that it has not painted
 * yet: one in six pictures of a very long page at a load of 12.
 */
async function wholePicture(page: Page, how: { type: 'png' | 'jpeg'; quality?: number }): Promise<Buffer> {
  const take = async () => Buffer.from(await page.screenshot({ ...how, captureBeyondViewport: false }))
  let before = await take()
  for (let tries = 1; tries < MOST_TRIES; tries++) {
    const again = await take()
    if (again.equals(before)) break
    before = again
  }
  return before
}

const QUALITY = 70
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

/**
 * Takes two pictures at each of the widths before an update. After it, takes one, and compares it with those two. A square that
 * differs between the two changes without an update, and does not count.
 */
async function shoot(browser: Browser): Promise<object> {
  const errors = new Set<string>()
  const pictures: object[] = []
  for (const width of values.widths.split(',').map(Number)) {
    const size = { width, height: HEIGHT }
    const first = await shotOf(browser, size, errors)
    if (!values.compares) {
      const second = await shotOf(browser, size, errors)
      pictures.push({ width: size.width, first: first.toString('base64'), second: second.toString('base64') })
    } else pictures.push({ width: size.width, ...(await compareShots(first, size)) })
  }
  return { pictures, errors: [...errors].slice(0, MOST_ERRORS) }
}

async function compareShots(after: Buffer, { width, height }: Size): Promise<object> {
  const { default: jpeg } = await import('jpeg-js')
  const { default: pixelmatch } = await import('pixelmatch')
  const read = (bytes: Uint8Array): Picture => {
    const picture = jpeg.decode(bytes, { useTArray: true, maxMemoryUsageInMB: 256 })
    if (picture.width !== width || picture.height !== height) throw new Error('a picture has another size')
    return picture
  }
  const [one, other] = ['first', 'second'].map((name) => read(readFileSync(`/pictures/${width}-${name}.jpg`)))
  const now = read(after)
  if (!one || !other) throw new Error('the pictures from before are missing')
  const changes = new Uint8Array(width * height * 4)
  pixelmatch(one.data, other.data, changes, width, height, { diffMask: true, includeAA: true })
  const ignored = withNeighbours(squaresOf(changes, width, height, 1), width, height)
  const output = new Uint8Array(width * height * 4)
  pixelmatch(other.data, now.data, changes.fill(0), width, height, { diffMask: true, includeAA: true })
  pixelmatch(other.data, now.data, output, width, height, { includeAA: true })
  const changed = squaresOf(changes, width, height, LEAST_PIXELS)
  const counted = ignored.filter((isIgnored) => !isIgnored).length
  const different = changed.filter((isChanged, index) => isChanged && !ignored[index]).length
  const difference = jpeg.encode({ width, height, data: output }, QUALITY).data
  return {
    different: counted === 0 ? 0 : (100 * different) / counted,
    after: after.toString('base64'),
    difference: Buffer.from(difference).toString('base64'),
  }
}

/** Returns for each square whether a mask of differences has enough pixels in it. */
function squaresOf(mask: Uint8Array, width: number, height: number, least: number): boolean[] {
  const [columns, rows] = [Math.ceil(width / SQUARE), Math.ceil(height / SQUARE)]
  const counts = new Uint32Array(columns * rows)
  for (let at = 0; at < width * height; at++)
    if (mask[at * 4 + 3] !== 0) {
      const square = Math.floor(at / width / SQUARE) * columns + Math.floor((at % width) / SQUARE)
      counts[square] = (counts[square] ?? 0) + 1
    }
  return [...counts].map((count) => count >= least)
}

function withNeighbours(squares: readonly boolean[], width: number, height: number): boolean[] {
  const [columns, rows] = [Math.ceil(width / SQUARE), Math.ceil(height / SQUARE)]
  const steps = [-1, 0, 1]
  const isSet = (column: number, row: number) =>
    column >= 0 && column < columns && row >= 0 && row < rows && squares[row * columns + column] === true
  return squares.map((_, index) => {
    const [column, row] = [index % columns, Math.floor(index / columns)]
    return steps.some((down) => steps.some((right) => isSet(column + right, row + down)))
  })
}

async function shotOf(browser: Browser, size: Size, errors: Set<string>): Promise<Buffer> {
  const context = await browser.createBrowserContext({ downloadBehavior: { policy: 'deny' } })
  try {
    const page = undisturbed(await context.newPage())
    const add = (text: string) => {
      const short = text.split('\n', 1)[0]?.slice(0, 200) ?? ''
      // The network is not the page's doing.
      if (short !== '' && !short.startsWith('Failed to load resource')) errors.add(short)
    }
    page.on('pageerror', (error) => add(error.message))
    page.on('console', (message) => message.type() === 'error' && add(message.text()))
    await page.setViewport({ ...size, deviceScaleFactor: 1 })
    await page.emulateMediaFeatures([{ name: 'prefers-reduced-motion', value: 'reduce' }])
    await page.evaluateOnNewDocument(calm, { at: Number(values.at), still: STILL, hidden: hiddenElements() })
    await open(page, values.shot)
    return await wholePicture(page, { type: 'jpeg', quality: QUALITY })
  } catch (error) {
    throw new Error(`The page could not be opened in a browser: ${(error as Error).message.split('\n')[0]}`)
  } finally {
    await context.close().catch(() => {})
  }
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
const hiddenElements = (): string[] => [...consentBanners, ...moving, ...(JSON.parse(values.masks) as string[])]

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
  const [interval, timeout] = [globalThis.setInterval, globalThis.setTimeout]
  const never = 2 ** 31 - 1
  const slow = (real: typeof setInterval, most: number) =>
    ((run: () => void, ms = 0, ...rest: unknown[]) => real(run, ms >= most ? never : ms, ...rest)) as typeof setInterval
  globalThis.setInterval = slow(interval, 1000)
  globalThis.setTimeout = slow(timeout as unknown as typeof setInterval, 3000) as unknown as typeof setTimeout
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

main().then(
  () => process.exit(0),
  (error: Error) => {
    process.stderr.write(`${error.message}\n`, () => process.exit(1))
  },
)
