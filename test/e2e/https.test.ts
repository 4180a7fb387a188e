/** A real site over https: several edge processes share the TLS address, and WordPress knows that it is https. */
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { connect } from 'node:tls'
import { generate } from 'selfsigned'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CERTIFICATE_KEY_PURPOSE } from '../../src/edge/tls/tls.store.ts'
import { createSealer } from '../../src/platform/crypto/seal.ts'
import { testCore } from '../support/core.ts'
import { freePort, type Stead, showOutputOfFailures, startStead, until } from '../support/stead.ts'

const core = await testCore()
const MASTER_KEY = Buffer.alloc(32, 7)
const NAME = 'secured.localhost'

describe.skipIf(!core)('a site over https', () => {
  let stead: Stead
  let tlsPort: number
  let certificate: string
  let id: number
  showOutputOfFailures(() => stead)
  beforeAll(async () => {
    tlsPort = await freePort()
    stead = await startStead({
      env: {
        STEAD_EDGE_PROCESSES: '2',
        STEAD_EDGE_TLS_LISTEN: `127.0.0.1:${tlsPort}`,
        STEAD_MASTER_KEY: MASTER_KEY.toString('base64'),
      },
    })
    id = await stead.createSite({ name: 'secured' })
    await writeFile(
      join(stead.directoryOf('secured'), 'web/scheme.php'),
      "<?php require __DIR__ . '/wp-load.php'; header('Cache-Control: max-age=60'); echo is_ssl() ? 'secure' : 'plain', ' ', $_SERVER['REQUEST_SCHEME'];",
    )
    const made = await generate([{ name: 'commonName', value: NAME }], {
      ...{ keyType: 'ec', algorithm: 'sha256' },
      extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: NAME }] }],
    })
    certificate = made.cert
    const database = new DatabaseSync(join(stead.dataDir, 'stead.db'))
    database.exec('begin immediate')
    database
      .prepare(
        'insert into certificates (host_name, site_id, wanted_at, due_at, chain, private_key, issued_at) values (?, ?, 0, 9e15, ?, ?, 1)',
      )
      .run(NAME, id, certificate, createSealer(MASTER_KEY).seal(made.private, CERTIFICATE_KEY_PURPOSE))
    database.exec('update route_clock set seq = seq + 1')
    database.prepare('insert into route_changes (seq, host_name) select seq, ? from route_clock').run(NAME)
    database.exec('commit')
    database.close()
  })
  afterAll(() => stead?.remove())

  const visit = async (
    path: string,
    headers: readonly string[] = [],
    session?: Buffer,
    host = `${NAME}:${tlsPort}`,
    form?: string,
  ) => {
    const socket = connect({
      ...{ port: tlsPort, host: '127.0.0.1', servername: NAME, ca: certificate },
      ...(session && { session }),
    })
    let ticket: Buffer | undefined
    socket.on('session', (each) => {
      ticket = each
    })
    await once(socket, 'secureConnect')
    const isResumed = socket.isSessionReused()
    const method = form === undefined ? 'GET' : 'POST'
    const lines = [`${method} ${path} HTTP/1.1`, `Host: ${host}`, 'Connection: close', ...headers]
    socket.write(`${lines.join('\r\n')}\r\n\r\n${form ?? ''}`)
    let text = ''
    for await (const chunk of socket) text += chunk
    return { text, ticket, isResumed }
  }

  test('tells WordPress the real protocol, whatever the visitor claims, and never shows a page of one protocol in the other', async () => {
    await until('the edges know of the certificate', () =>
      visit('/').then(
        () => true,
        () => false,
      ),
    )
    for (let times = 0; times < 3; times++) {
      expect((await visit('/scheme.php', ['X-Forwarded-Proto: http'])).text).toContain('secure https')
      const forged = { headers: { 'X-Forwarded-Proto': 'https', 'X-Forwarded-Ssl': 'on', HTTPS: 'on' } }
      expect((await stead.visit('secured', '/scheme.php', forged)).text).toContain('plain http')
    }
  })

  test('links to https with its own port, whatever port the visitor sends, and to http for http visitors', async () => {
    const own = `https://${NAME}:${tlsPort}`
    const { text } = await visit('/')
    expect(text).toContain(`href="${own}/hello-world/"`)
    expect(text).not.toMatch(new RegExp(`https?://${NAME}:(?!${tlsPort})`))
    for (const host of [NAME, `${NAME}:1`])
      expect((await visit('/', [], undefined, host)).text).toContain(`Location: ${own}/\r`)
    const plain = await stead.visit('secured', '/')
    expect(plain.text).toContain(`href="http://${NAME}:${stead.edgePort}/hello-world/"`)
    expect(plain.text).not.toContain('https://secured')
  })

  test('people log in over https, with cookies for https alone', async () => {
    const { body } = await stead.api('PUT', `/v1/sites/${id}/cms/password-reset`)
    const form = new URLSearchParams({ log: 'admin', pwd: body.data, testcookie: '1' }).toString()
    const type = 'Content-Type: application/x-www-form-urlencoded'
    const headers = [type, `Content-Length: ${form.length}`, 'Cookie: wordpress_test_cookie=WP%20Cookie%20check']
    const { text } = await visit('/wp-login.php', headers, undefined, NAME, form)
    expect(text).toContain(`Location: https://${NAME}:${tlsPort}/wp-admin/`)
    const cookies = [...text.matchAll(/^Set-Cookie: (\S+?=[^;]+);(.*)$/gim)].filter(([, cookie]) =>
      /_sec_|logged_in/.test(String(cookie)),
    )
    expect(cookies.length).toBeGreaterThan(2)
    for (const [, , rest] of cookies) expect(rest).toMatch(/; secure/i)
    const cookie = `Cookie: ${cookies.map(([, each]) => each).join('; ')}`
    const dashboard = await visit('/wp-admin/', [cookie])
    expect(dashboard.text).toContain('wpadminbar')
    expect(dashboard.text).not.toContain(`http://${NAME}`)
  })

  test('a session goes on, whichever of the processes it comes to', async () => {
    // keys change at noon and at midnight, in each process within a minute
    await until('sixteen visits in a row go on with the session', async () => {
      let { ticket } = await visit('/scheme.php')
      for (let times = 0; times < 16; times++) {
        const again = await visit('/scheme.php', [], ticket)
        if (!again.isResumed) return false
        ticket = again.ticket ?? ticket
      }
      return true
    })
  })

  test('still serves it after an edge crashes and restarts', async () => {
    stead.kill('edge')
    await until(
      'both edges are there',
      () => stead.processes().filter(({ words }) => words.includes('edge')).length === 2,
    )
    await until('it is served again', () =>
      visit('/scheme.php').then(
        ({ text }) => text.includes('secure https'),
        () => false,
      ),
    )
  })
})
