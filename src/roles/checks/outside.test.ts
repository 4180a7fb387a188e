/** Tests the checks that contact other machines: names, the certificate authority, storage, mail. */

import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SMTPServer } from 'smtp-server'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { certificateCheck } from './certificates.ts'
import type { Check, CheckContext } from './check.ts'
import { clockCheck } from './clock.ts'
import { contextOf } from './context.fixture.ts'
import { mailCheck } from './mail.ts'
import { dnsCheck, namesCheck } from './names.ts'
import { storageCheck } from './storage.ts'

let folder: string
const open: { close(): unknown }[] = []
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stead-checks-'))
})
afterEach(async () => {
  for (const each of open.splice(0)) each.close()
  await rm(folder, { recursive: true })
})

const find = (check: Check, settings: Record<string, string> = {}, more: Partial<CheckContext> = {}) =>
  check.run(contextOf({ STEAD_DATA_DIR: folder, ...settings }, { asksOutside: true, ...more }))
const NOWHERE = '127.0.0.1:9'

async function serve(answer: (path: string) => { status?: number; text: string; date?: string }): Promise<string> {
  const server = createServer((request, response) => {
    const { status = 200, text, date } = answer(request.url ?? '')
    if (date) response.setHeader('Date', date)
    response.writeHead(status).end(text)
  })
  open.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('names: accepts local ones without DNS, and looks up public ones', async () => {
  expect(await find(namesCheck)).toMatchObject([{ state: 'ok', text: expect.stringContaining('localhost are local') }])
  const found = await find(namesCheck, {
    STEAD_STAGING_DOMAIN: 'sites.example.com',
    STEAD_API_NAME: 'panel.example.com',
    STEAD_PANEL_URL: 'https://192.0.2.1:8443',
    STEAD_DNS_NAMESERVERS: 'ns1.example.com',
  })
  expect(found).toMatchObject([
    { state: 'problem', remedy: 'Set the public addresses with STEAD_EDGE_ADDRESSES.' },
    { state: 'problem', remedy: expect.stringContaining('*.sites.example.com') },
    { state: 'problem', text: expect.stringContaining('panel.example.com cannot be looked up') },
    { state: 'problem', text: expect.stringContaining('ns1.example.com cannot be looked up') },
  ])
  const asked = await find(namesCheck, { STEAD_STAGING_DOMAIN: 'sites.example.com' }, { asksOutside: false })
  expect(asked).toHaveLength(1)
})

test('DNS: warns when no server answers, and reports a silent name server as a problem', async () => {
  const dns = { STEAD_DNS_LISTEN: `${NOWHERE}` }
  expect(await find(dnsCheck, dns, { running: new Set(['dns']) })).toMatchObject([
    { state: 'warning', text: expect.stringContaining('No DNS server responds (127.0.0.1:9)') },
    { state: 'problem', text: `The name server does not respond on ${NOWHERE}.` },
  ])
  expect(await find(dnsCheck, { STEAD_DNS_LISTEN: 'off' })).toMatchObject([{ state: 'warning' }, { state: 'skipped' }])
})

const tls = { STEAD_EDGE_TLS_LISTEN: '127.0.0.1:0' }
test('certificates: orders nothing before the terms are accepted', async () => {
  expect(await find(certificateCheck)).toMatchObject([{ state: 'ok' }])
  expect(await find(certificateCheck, tls)).toMatchObject([
    { state: 'warning', remedy: expect.stringContaining('STEAD_ACME_TERMS_AGREED') },
  ])
  expect(await find(certificateCheck, { ...tls, STEAD_STAGING_DOMAIN: 'sites.example.com' })).toMatchObject([
    { state: 'problem', text: 'Stead requests no certificates for *.sites.example.com.' },
  ])
})

test('certificates: reports an authority that is unreachable or invalid', async () => {
  const agreed = { ...tls, STEAD_ACME_TERMS_AGREED: 'true' }
  const at = (url: string) => find(certificateCheck, { ...agreed, STEAD_ACME_DIRECTORY: url })
  expect(await at(`http://${NOWHERE}/`)).toMatchObject([
    { state: 'problem', text: expect.stringContaining('cannot be reached') },
  ])
  expect(await at(await serve(() => ({ status: 404, text: 'no' })))).toMatchObject([
    { state: 'problem', text: expect.stringContaining('is not the directory of a certificate authority (HTTP 404)') },
  ])
  expect(await at(await serve(() => ({ text: '{"newOrder":"x"}' })))).toMatchObject([{ state: 'ok' }])
  // An endless answer is invalid, and is not read to its end.
  expect(await at(await serve(() => ({ text: `${' '.repeat(100_000)}"newOrder"` })))).toMatchObject([
    { state: 'problem' },
  ])
})

test('clock: reports a difference from the authority’s clock', async () => {
  const directory = await serve(() => ({
    text: '{"newOrder":"x"}',
    date: new Date(Date.now() - 7_200_000).toUTCString(),
  }))
  const found = await find(clockCheck, { ...tls, STEAD_ACME_TERMS_AGREED: 'true', STEAD_ACME_DIRECTORY: directory })
  expect(found).toMatchObject([
    { state: 'problem', text: expect.stringMatching(/certificate authority by 7\d\d\d seconds/) },
  ])
})

const bucket = (endpoint: string) => ({
  ...{ STEAD_BACKUP_S3_BUCKET: 'b', STEAD_BACKUP_S3_ENDPOINT: endpoint },
  ...{ STEAD_BACKUP_S3_ACCESS_KEY_ID: 'a', STEAD_BACKUP_S3_SECRET_ACCESS_KEY: 'b' },
})
test('storage: reports a bucket that refuses or lies, and contacts none at a start', async () => {
  expect(await find(storageCheck, bucket(await serve(() => ({ status: 403, text: '' }))))).toMatchObject([
    { state: 'problem', text: expect.stringContaining('Stead cannot write backups') },
  ])
  expect(await find(storageCheck, bucket(await serve(() => ({ text: 'another' }))))).toMatchObject([
    { state: 'problem' },
  ])
  expect(await find(storageCheck, bucket(`http://${NOWHERE}`), { asksOutside: false })).toEqual([])
  expect(await find(storageCheck)).toMatchObject([{ state: 'skipped' }])
})

test('mail: distinguishes a server that is unreachable, refuses the password, or answers', async () => {
  const at = async (url: string) =>
    (await find(mailCheck, { STEAD_SMTP_URL: url })).map(({ state, text }) => `${state}: ${text}`)
  expect(await at(`smtp://${NOWHERE}`)).toEqual([
    expect.stringMatching(/^problem: The mail server 127.0.0.1:9 accepts no mail: /),
  ])
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    authOptional: true,
    onAuth: (_auth, _session, done) => done(new Error('no\u001b[31m')),
  })
  open.push(server)
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  const { port } = server.server.address() as AddressInfo
  expect(await at(`smtp://127.0.0.1:${port}`)).toEqual([`ok: The mail server 127.0.0.1:${port} responds.`])
  const [refused = ''] = await at(`smtp://user:secret-word@127.0.0.1:${port}`)
  expect(refused).toContain('problem')
  expect(refused).not.toContain('secret-word')
})

test('mail: reports mail kept as files on a public installation, and an invalid DKIM key', async () => {
  expect(await find(mailCheck)).toMatchObject([{ state: 'ok' }])
  const key = join(folder, 'dkim.pem')
  await writeFile(key, 'none')
  const found = await find(mailCheck, {
    ...{ STEAD_STAGING_DOMAIN: 'sites.example.com', STEAD_DKIM_DOMAIN: 'example.com', STEAD_DKIM_KEY_FILE: key },
  })
  expect(found).toMatchObject([
    { state: 'problem', text: expect.stringContaining('STEAD_DKIM_KEY_FILE') },
    { state: 'warning' },
  ])
})
