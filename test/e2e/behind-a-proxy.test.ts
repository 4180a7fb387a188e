/** Runs Stead behind nginx and haproxy, configured as docs/guides/behind-a-proxy.md says, except for the ports. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { type IncomingMessage, request as requestPlain } from 'node:http'
import { request } from 'node:https'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testCore } from '../support/core.ts'
import { examplesOf } from '../support/examples.ts'
import { freePort, type Stead, showOutputOfFailures, startStead, until } from '../support/stead.ts'
import { Browser, type Page, type VisitOptions } from '../support/visit.ts'

const core = await testCore()
const unpacked = process.env.TEST_PROXIES ?? ''
const programOf = (name: string) =>
  [join(unpacked, 'usr/sbin', name), `/usr/sbin/${name}`].find((path) => path.startsWith('/') && existsSync(path))
const [nginx, haproxy] = [programOf('nginx'), programOf('haproxy')]
const PAGE = 'docs/guides/behind-a-proxy.md'
/** The visitor's address. It is not a trusted proxy. */
const VISITOR = '127.0.0.9'
const site = 'front.localhost'
const script = `<?php require '/wordpress/wp-load.php';
$asked = wp_remote_get(home_url('/wp-includes/css/dashicons.min.css'), ['timeout' => 20]);
header('Cache-Control: no-store');
echo json_encode([
  'bytes' => strlen(file_get_contents('php://input')), 'from' => $_SERVER['REMOTE_ADDR'], 'https' => is_ssl(), 'home' => home_url(),
  'itself' => is_wp_error($asked) ? $asked->get_error_message() : wp_remote_retrieve_response_code($asked),
]);`

describe.skipIf(!core || !nginx || !haproxy)('behind a proxy', { timeout: 300_000 }, () => {
  let stead: Stead
  let folder: string
  let siteId: number
  let password: string
  const ports = { nginx: 0, https: 0, tcpHttp: 0, tcpHttps: 0, tcpSftp: 0, tls: 0, sftp: 0 }
  const running: ChildProcess[] = []
  showOutputOfFailures(() => stead)

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'stead-proxies-'))
    for (const name of Object.keys(ports)) Object.assign(ports, { [name]: await freePort() })
    const made = ['-subj', '/CN=proxy.test', '-days', '2', '-keyout', 'sites.key', '-out', 'sites.pem']
    execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...made], {
      cwd: folder,
      stdio: 'ignore',
    })
    const both = await Promise.all(['sites.pem', 'sites.key'].map((name) => readFile(join(folder, name), 'utf8')))
    await writeFile(join(folder, 'haproxy.pem'), both.join(''))
    stead = await startStead({
      env: { ...settingsOf('nginx'), STEAD_STAGING_DOMAIN: 'localhost', STEAD_SFTP_LISTEN: `127.0.0.1:${ports.sftp}` },
    })
    siteId = await stead.createSite({ name: 'front' })
    password = (await stead.api('PUT', `/v1/sites/${siteId}/cms/password-reset`)).body.data
    await writeFile(join(stead.directoryOf('front'), 'web/seen.php'), script)
    await startNginx()
    await startHaproxy('haproxy, speaking HTTP', ports.https)
  })
  afterAll(async () => {
    // nginx ends its workers only if it is not killed.
    for (const child of running) if (child.exitCode === null && child.kill('SIGTERM')) await once(child, 'exit')
    await stead?.remove()
    if (folder) await rm(folder, { recursive: true, force: true })
  })

  const blockOf = (heading: string, language: string) => {
    const found = examplesOf(PAGE, language).find(([title]) => title === heading)
    if (!found) throw new Error(`${PAGE} has no ${language} below "${heading}"`)
    return found[1]
  }
  const settingsOf = (heading: string) =>
    Object.fromEntries(
      blockOf(heading, 'ini')
        .trim()
        .split('\n')
        .map((line) => line.replace('127.0.0.1:8443', `127.0.0.1:${ports.tls}`).split(/=(.*)/, 2) as [string, string]),
    )
  const changed = (code: string) =>
    code
      .replaceAll('127.0.0.1:8081', `127.0.0.1:${stead.edgePort}`)
      .replaceAll('127.0.0.1:8080', `127.0.0.1:${stead.apiPort}`)
      .replaceAll('127.0.0.1:8443', `127.0.0.1:${ports.tls}`)
      .replaceAll('127.0.0.1:2222', `127.0.0.1:${ports.sftp}`)
      .replaceAll('/etc/ssl/', `${folder}/`)

  async function run(program: string, words: string[], port: number): Promise<void> {
    const child = spawn(program, words, {
      env: { ...process.env, LD_LIBRARY_PATH: join(unpacked, 'usr/lib/x86_64-linux-gnu') },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    running.push(child)
    let said = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += chunk))
    await until(`${program} listens`, async () => {
      if (child.exitCode !== null) throw new Error(`${program} has ended: ${said}`)
      const socket = connect(port, '127.0.0.1')
      const isThere = await once(socket, 'connect').then(
        () => true,
        () => false,
      )
      socket.destroy()
      return isThere
    })
  }

  async function startNginx(): Promise<void> {
    const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${folder}/${name};`,
    )
    const servers = changed(blockOf('nginx', 'nginx')).replaceAll('listen 443', `listen 127.0.0.1:${ports.nginx}`)
    const text = `user root; daemon off; pid ${folder}/nginx.pid; error_log stderr;
events { worker_connections 256; }
http { access_log off; ${places.join(' ')}
${servers} }`
    await mkdir(join(folder, 'logs'), { recursive: true })
    await writeFile(join(folder, 'nginx.conf'), text)
    await run(nginx as string, ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', 'stderr'], ports.nginx)
  }

  async function startHaproxy(heading: string, port: number): Promise<void> {
    const file = join(folder, `${port}.cfg`)
    const text = changed(blockOf(heading, 'haproxy'))
      .replace('bind :443', `bind 127.0.0.1:${port}`)
      .replace('bind :80', `bind 127.0.0.1:${ports.tcpHttp}`)
      .replace('bind :2022', `bind 127.0.0.1:${ports.tcpSftp}`)
    await writeFile(file, text)
    await run(haproxy as string, ['-db', '-f', file], port)
  }

  interface Asked extends VisitOptions {
    readonly port: number
    readonly host?: string
    readonly isPlain?: boolean
  }

  function open(path: string, { port, host = site, isPlain = false, method = 'GET', headers, body }: Asked) {
    const options = { host: '127.0.0.1', port, path, method, localAddress: VISITOR, agent: false }
    const form = body instanceof URLSearchParams ? { 'content-type': 'application/x-www-form-urlencoded' } : {}
    const more = { ...options, headers: { host, ...form, ...headers } }
    const asked = isPlain ? requestPlain(more) : request({ ...more, servername: host, rejectUnauthorized: false })
    asked.end(body instanceof URLSearchParams ? body.toString() : body)
    return once(asked, 'response') as Promise<[IncomingMessage]>
  }

  async function ask(path: string, options: Asked): Promise<Page & { readonly issuer: string }> {
    const [response] = await open(path, options)
    const issuer = options.isPlain ? '' : String((response.socket as TLSSocket).getPeerCertificate().issuer.CN)
    let text = ''
    for await (const chunk of response.setEncoding('utf8')) text += chunk
    return { status: response.statusCode as number, headers: response.headers, text, issuer }
  }

  test.each(['nginx', 'https'] as const)('serves a whole site through a proxy that ends TLS: %s', async (proxy) => {
    const port = ports[proxy]
    const front = await ask('/', { port })
    expect(front.status).toBe(200)
    expect(front.text).toContain(`https://${site}/`)
    expect(front.text).not.toContain(`http://${site}`)

    const browser = new Browser((path, options) => ask(path, { ...options, port }))
    const form = new URLSearchParams({ log: 'admin', pwd: password, testcookie: '1' })
    const cookie = 'wordpress_test_cookie=WP%20Cookie%20check'
    const loggedIn = await ask('/wp-login.php', { port, method: 'POST', body: form, headers: { cookie } })
    expect([loggedIn.status, loggedIn.headers.location]).toEqual([302, `https://${site}/wp-admin/`])
    expect(loggedIn.headers['set-cookie']?.filter((each) => each.startsWith('wordpress_sec_')).join()).toMatch(
      /; secure/i,
    )
    expect((await browser.logIn('admin', password)).text).toContain('wpadminbar')

    const seen = await ask('/seen.php', { port, method: 'POST', body: Buffer.alloc(3 << 20, 'x') })
    expect(JSON.parse(seen.text)).toEqual({
      ...{ bytes: 3 << 20, from: VISITOR, https: true, home: `https://${site}`, itself: 200 },
    })
    // this path proves that a name leads to this Stead
    expect((await ask('/.well-known/stead/here/a-nonce-of-ours', { port })).status).toBe(200)
    expect((await ask('/.well-known/stead/ready', { port, host: '192.0.2.1' })).text).toBe('ready\n')
  })

  test.each(['nginx', 'https'] as const)('delivers API events to listeners without buffering: %s', async (proxy) => {
    const headers = { authorization: `Bearer ${await stead.freshToken()}`, accept: 'text/event-stream' }
    const [stream] = await open('/v1/activity', { port: ports[proxy], host: 'panel.example.com', headers })
    expect([stream.statusCode, stream.headers['content-type']]).toEqual([200, expect.stringContaining('event-stream')])
    const heard = once(stream.setEncoding('utf8'), 'data')
    await stead.api('DELETE', `/v1/sites/${siteId}/object-cache`)
    expect(String((await heard)[0])).not.toBe('')
    stream.destroy()
  })

  test('learns the visitor’s address from a balancer that passes connections through: http, https with Stead’s certificates, SFTP', async () => {
    stead.set({ STEAD_TRUST_PROXY: '', ...settingsOf('haproxy, with the PROXY protocol') })
    await stead.restart()
    await startHaproxy('haproxy, with the PROXY protocol', ports.tcpHttps)
    const plain = { port: ports.tcpHttp, isPlain: true, headers: { 'x-forwarded-for': '203.0.113.1' } }
    await until(
      'the balancer finds the edge well',
      async () => (await ask('/.well-known/stead/ready', plain).catch(() => undefined))?.status === 200,
    )
    const http = JSON.parse((await ask('/seen.php', plain)).text)
    expect(http).toMatchObject({ from: VISITOR, https: false, home: `http://${site}`, itself: 200 })
    const secure = await ask('/seen.php', { port: ports.tcpHttps })
    expect(JSON.parse(secure.text)).toMatchObject({ from: VISITOR, https: true, home: `https://${site}` })
    expect(secure.issuer).toMatch(/^Stead/)
    const socket: Socket = connect({ port: ports.tcpSftp, host: '127.0.0.1', localAddress: VISITOR })
    expect(String((await once(socket, 'data'))[0])).toMatch(/^SSH-2\.0-/)
    socket.destroy()
  })
})
