/** A new site over https where no public authority can help, as on a laptop. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, type TLSSocket } from 'node:tls'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasChromium, openChromium } from '../support/chromium.ts'
import { testCore } from '../support/core.ts'
import { freePort, program, type Stead, showOutputOfFailures, startStead, until } from '../support/stead.ts'

const core = await testCore()
const hasCertutil = existsSync('/usr/bin/certutil')

describe.skipIf(!core)('a site of a laptop over https', () => {
  let stead: Stead
  let tlsPort: number
  let apiPort: number
  let directory: string
  showOutputOfFailures(() => stead)
  beforeAll(async () => {
    tlsPort = await freePort()
    apiPort = await freePort()
    directory = await mkdtemp(join(tmpdir(), 'stead-home-of-browsers-'))
    stead = await startStead({
      env: {
        STEAD_EDGE_PROCESSES: '2',
        STEAD_EDGE_TLS_LISTEN: `127.0.0.1:${tlsPort}`,
        STEAD_API_TLS_LISTEN: `127.0.0.1:${apiPort}`,
        STEAD_API_NAME: 'api.localhost',
      },
    })
    await stead.createSite({ name: 'laptop' })
  })
  afterAll(async () => {
    await stead?.remove()
    await rm(directory, { recursive: true, force: true })
  })

  /** Runs the command as a user types it, with its own directory: never the machine's own store. */
  const trust = (...flags: string[]) =>
    new Promise<{ code: number; out: string; error: string }>((resolve) => {
      const { PATH = '' } = process.env
      const env = {
        PATH,
        HOME: directory,
        STEAD_DATA_DIR: stead.dataDir,
        STEAD_EDGE_TLS_LISTEN: `127.0.0.1:${tlsPort}`,
      }
      const child = execFile(process.execPath, [program, 'trust', ...flags], { env }, (_error, out, error) =>
        resolve({ code: child.exitCode ?? -1, out, error }),
      )
    })

  /** @returns the page, and the certificate that the visitor got */
  const visit = (hostName: string, ca?: string, path = '/', port = tlsPort) =>
    new Promise<{ text: string; seen: string }>((resolve, reject) => {
      const asked = request(
        { port, host: '127.0.0.1', servername: hostName, path, ...(ca && { ca }), agent: false },
        async (response) => {
          const { fingerprint256: seen } = (response.socket as TLSSocket).getPeerCertificate()
          const chunks: Buffer[] = []
          for await (const chunk of response) chunks.push(chunk)
          resolve({ text: Buffer.concat(chunks).toString(), seen })
        },
      )
      asked.setHeader('host', `${hostName}:${port}`)
      asked.on('error', reject)
      asked.end()
    })

  test('is trusted only with the installation’s authority, has one certificate on both edges, and keeps it over a restart', async () => {
    await expect(visit('laptop.localhost')).rejects.toThrow(/unable to verify|self-signed/i)
    const { code, out: authority } = await trust('--print')
    expect([code, authority.match(/BEGIN CERTIFICATE/g)?.length]).toEqual([0, 1])
    const visits = await Promise.all(Array.from({ length: 8 }, () => visit('laptop.localhost', authority)))
    expect(new Set(visits.map(({ seen }) => seen)).size).toBe(1)
    for (const { text } of visits) expect(text).toContain(`href="https://laptop.localhost:${tlsPort}/hello-world/"`)
    await expect(visit('nobody.localhost', authority)).rejects.toThrow(/handshake failure/)
    await stead.stop()
    await stead.start()
    // a handshake is enough to have PHP started
    const early = connect({ port: tlsPort, host: '127.0.0.1', servername: 'laptop.localhost', ca: authority })
    await until('PHP runs', () => stead.phpProcesses().length > 0)
    early.destroy()
    expect((await visit('laptop.localhost', authority)).seen).toBe(visits[0]?.seen)
    expect((await trust('--print')).out).toBe(authority)
  })

  test('serves the whole API under its own name, with the same authority', async () => {
    const { out: authority } = await trust('--print')
    const over = async (path: string) => (await visit('api.localhost', authority, path, apiPort)).text
    expect(JSON.parse(await over('/readyz'))).toMatchObject({ status: 'ready' })
    expect(JSON.parse(await over('/v1/sites'))).toMatchObject({ data: null, code: 'unauthorized' })
    await expect(visit('laptop.localhost', authority, '/readyz', apiPort)).rejects.toThrow(/does not match/)
  })

  test('prints the addresses of sites at a start', async () => {
    const words = `, https://<name>.localhost:${tlsPort}  (to trust it in browsers, run stead trust)`
    await until('the banner', () => stead.output().includes(words))
  })

  test.skipIf(!hasChromium || !hasCertutil)(
    'opens in a browser without a warning while the authority is trusted, and with one afterwards',
    async () => {
      const database = join(directory, '.pki/nssdb')
      await mkdir(database, { recursive: true })
      await new Promise((resolve) => execFile('certutil', ['-d', `sql:${database}`, '-N', '--empty-password'], resolve))
      const open = async () => {
        const browser = await openChromium(directory)
        try {
          const page = await browser.newPage()
          const answer = await page.goto(`https://laptop.localhost:${tlsPort}/`).catch((error) => error as Error)
          if (answer instanceof Error) return /ERR_CERT_\w+/.exec(answer.message)?.[0]
          return { title: await page.title(), issuer: (await answer?.securityDetails())?.issuer, url: page.url() }
        } finally {
          await browser.close()
        }
      }
      expect(await open()).toBe('ERR_CERT_AUTHORITY_INVALID')
      expect((await trust('--check', '--only=browsers')).code).toBe(1)
      const { code, out, error } = await trust('--only=browsers')
      expect([code, out]).toEqual([0, expect.stringMatching(/^yes +Stead .*nssdb +from now on$/m)])
      expect(error).toContain('only for names below localhost')
      expect(await open()).toEqual({
        title: 'laptop',
        issuer: expect.stringMatching(/^Stead [0-9a-f]{8} for local sites$/),
        url: `https://laptop.localhost:${tlsPort}/`,
      })
      expect((await trust('--check', '--only=browsers')).code).toBe(0)
      expect((await trust('--remove', '--only=browsers')).code).toBe(0)
      expect(await open()).toBe('ERR_CERT_AUTHORITY_INVALID')
    },
  )

  test('refuses to trust an authority that cannot be used, and writes nothing', async () => {
    const before = await readdir(directory)
    for (const [flags, words] of [
      [['--local-authority=off'], 'STEAD_LOCAL_AUTHORITY is off'],
      [['--staging-domain=sites.example.com'], 'for which public authorities issue certificates'],
      [['--print', '--remove'], 'Use only one of'],
    ] as const) {
      const { code, out, error } = await trust('--only=browsers', ...flags)
      expect([code, out, error]).toEqual([2, '', expect.stringContaining(words)])
    }
    expect(await readdir(directory)).toEqual(before)
  })
})
