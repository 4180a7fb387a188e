/**
 * Runs only inside the jail (jail.ts): opens one page with Chromium and measures it with Lighthouse. Chromium reaches
 * only the host's proxy, through the socket that is bound into the jail. The result is one line of JSON on standard
 * output.
 */
import { connect, createServer } from 'node:net'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: {
    url: { type: 'string', default: '' },
    device: { type: 'string', default: 'mobile' },
    chromium: { type: 'string', default: '' },
    audits: { type: 'string', default: '' },
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
  const [{ default: puppeteer }, { default: lighthouse, desktopConfig }] = await Promise.all([
    import('puppeteer-core'),
    import('lighthouse'),
  ])
  const browser = await puppeteer.launch({
    executablePath: values.chromium,
    pipe: true,
    headless: true,
    userDataDir: '/tmp/profile',
    args: chromiumFlags(port),
  })
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
  const result = {
    finalDisplayedUrl,
    lighthouseVersion,
    fetchTime,
    runtimeError,
    categories: Object.fromEntries(Object.entries(categories).map(([id, { title, score }]) => [id, { title, score }])),
    audits: Object.fromEntries(wanted.map((id) => [id, audits[id]])),
  }
  await new Promise((written) => process.stdout.write(JSON.stringify(result), written))
  await browser.close().catch(() => {})
}

main().then(
  () => process.exit(0),
  (error: Error) => {
    process.stderr.write(`${error.message}\n`, () => process.exit(1))
  },
)
