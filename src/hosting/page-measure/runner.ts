/**
 * Runs only inside the jail (jail-arguments.ts): opens one page with Chromium and measures it with Lighthouse, or opens
 * two and compares their pictures. Chromium reaches only the host's proxy, through the socket that is bound into the
 * jail. The result is one line of JSON on standard output.
 */
import { connect, createServer } from 'node:net'
import { parseArgs } from 'node:util'
import type { Browser } from 'puppeteer-core'

const { values } = parseArgs({
  options: {
    url: { type: 'string', default: '' },
    device: { type: 'string', default: 'mobile' },
    chromium: { type: 'string', default: '' },
    audits: { type: 'string', default: '' },
    old: { type: 'string', default: '' },
    new: { type: 'string', default: '' },
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
    protocolTimeout: values.old ? PICTURE_MS : 180_000,
  })
  const result = values.old ? await compare(browser) : await measure(browser)
  await new Promise((written) => process.stdout.write(JSON.stringify(result), written))
  await browser.close().catch(() => {})
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
/** For one answer of the browser. */
const PICTURE_MS = 30_000

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
    const page = await context.newPage()
    page.on('dialog', (dialog) => dialog.dismiss().catch(() => {}))
    await page.setViewport({ width: WIDTH, height: HEIGHT, deviceScaleFactor: 1 })
    await page.emulateMediaFeatures([{ name: 'prefers-reduced-motion', value: 'reduce' }])
    await page.goto(url, { waitUntil: 'networkidle2', timeout: LOAD_MS }).catch((error: Error) => {
      if (error.name !== 'TimeoutError') throw error
    })
    const picture = PNG.sync.read(Buffer.from(await page.screenshot({ type: 'png', captureBeyondViewport: false })))
    if (picture.width !== WIDTH || picture.height !== HEIGHT) throw new Error('its picture has another size')
    return picture.data
  } catch (error) {
    throw new Error(`${what} could not be opened in a browser: ${(error as Error).message.split('\n')[0]}`)
  } finally {
    await context.close().catch(() => {})
  }
}

main().then(
  () => process.exit(0),
  (error: Error) => {
    process.stderr.write(`${error.message}\n`, () => process.exit(1))
  },
)
