/**
 * From a typed name to the site, as on the internet: a resolver queries our name server, an authority validates at our
 * edge, and a browser that trusts the authority opens the site. Runs in its own network, whose `resolv.conf` names
 * 127.0.0.1, and prints what it saw as JSON.
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { logInToWordPress, openChromium } from '../../support/chromium.ts'
import { startPebble } from '../../support/pebble.ts'
import { type Stead, startStead, until } from '../../support/stead.ts'

const RESOLVER = '127.0.0.1'
const NAME_SERVER = '127.0.0.2'

const folder = await mkdtemp(join(tmpdir(), 'stead-whole-way-'))
const pebble = await startPebble(80, `${RESOLVER}:53`)
const stead = await startStead({
  env: {
    STEAD_DNS_LISTEN: `${NAME_SERVER}:53`,
    STEAD_DNS_PROCESSES: '1',
    STEAD_EDGE_LISTEN: '127.0.0.1:80',
    STEAD_EDGE_TLS_LISTEN: '127.0.0.1:443',
    STEAD_EDGE_ADDRESSES: '127.0.0.1',
    STEAD_RESOLVERS: `${RESOLVER}:53`,
    STEAD_ACME_DIRECTORY: pebble.directory,
    STEAD_ACME_ROOTS: pebble.roots,
    STEAD_ACME_TERMS_AGREED: 'true',
  },
})
const resolver = await startResolver()
try {
  console.log(JSON.stringify(await journey(stead)))
} catch (error) {
  console.error(stead.output().slice(-4000))
  throw error
} finally {
  const ended = once(resolver, 'exit')
  resolver.kill('SIGTERM')
  await ended
  await stead.remove()
  await pebble.close()
  await rm(folder, { recursive: true })
}

async function startResolver() {
  const file = join(folder, 'unbound.conf')
  const lines = [
    ...['server:', `interface: ${RESOLVER}@53`, 'username: ""', 'chroot: ""', `directory: "${folder}"`],
    ...[`pidfile: "${folder}/pid"`, 'use-syslog: no', 'do-daemonize: no', 'do-not-query-localhost: no'],
    ...['local-zone: "test." nodefault', 'module-config: "iterator"', 'cache-max-negative-ttl: 0'],
    ...['remote-control:', 'control-enable: no'],
    ...['stub-zone:', 'name: "example.test"', `stub-addr: ${NAME_SERVER}@53`, ''],
  ]
  await writeFile(file, lines.join('\n'))
  return spawn('unbound', ['-d', '-c', file], { stdio: 'ignore' })
}

async function journey({ api, createSite, ended }: Stead) {
  const site = await createSite({ name: 'journey' })
  const password = (await api('PUT', `/v1/sites/${site}/cms/password-reset`)).body.data
  const added = await api('POST', `/v1/sites/${site}/domains`, { name: 'example.test' })
  // the name itself, and www
  const domains = added.body.data as { id: number }[]
  const primary = await api('PUT', `/v1/sites/${site}/domains/${domains[1]?.id}/primary`)
  await ended(primary.headers.get('operation-id') as string)
  const [zone] = (await api('GET', '/v1/zones')).body.data
  for (const { id } of domains) {
    const ssl = `/v1/zones/${zone.id}/records/${id}/ssl`
    // the first order may have come before the name server could be reached
    await api('PUT', ssl, { force_ssl: true })
    await until(`record ${id} has a certificate`, async () => {
      const { data } = (await api('GET', ssl)).body
      return data?.certificate_expiration_date
    })
  }
  return browse(password)
}

async function browse(password: string) {
  const trust = join(folder, '.pki/nssdb')
  await mkdir(trust, { recursive: true })
  await writeFile(join(folder, 'root.pem'), await pebble.issuer())
  const certutil = (...words: string[]) => execFileSync('certutil', ['-d', `sql:${trust}`, ...words])
  certutil('-N', '--empty-password')
  certutil('-A', '-t', 'C,,', '-n', 'pebble', '-i', join(folder, 'root.pem'))
  const browser = await openChromium(folder)
  try {
    const page = await browser.newPage()
    const complaints: string[] = []
    // avatars, which are on another host
    await page.route('https://secure.gravatar.com/**', (route) => route.fulfill({ contentType: 'image/gif' }))
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
    page.on('requestfailed', (request) => complaints.push(`${request.url()}: ${request.failure()?.errorText}`))
    const first = await page.goto('http://example.test/hello-world/?a=b')
    const from: string[] = []
    for (let asked = first?.request().redirectedFrom(); asked; asked = asked.redirectedFrom()) from.unshift(asked.url())
    const certificate = await first?.securityDetails()
    const seen = {
      url: page.url(),
      from,
      status: first?.status(),
      issuer: certificate?.issuer,
      name: certificate?.subjectName,
    }
    const links = await page
      .locator('a[href*="example.test"]')
      .evaluateAll((all) => all.map((each) => (each as HTMLAnchorElement).href))
    await logInToWordPress(page, 'https://www.example.test', 'admin', password)
    const cookies = await page.context().cookies()
    return {
      ...seen,
      plainLinks: links.filter((link) => !link.startsWith('https://www.example.test/')),
      dashboard: page.url(),
      insecureCookies: cookies
        .filter(({ name, secure }) => /logged_in|_sec_/.test(name) && !secure)
        .map(({ name }) => name),
      complaints,
    }
  } finally {
    await browser.close()
  }
}
