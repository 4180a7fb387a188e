/** Tests the API over TLS, with certificates from files and from the installation's own authority. */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { generate } from 'selfsigned'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../../../test/support/database.ts'
import { localAuthorities } from '../../certificates/local-authority.store.ts'
import { readConfig } from '../../config.ts'
import { createSealer } from '../../platform/crypto/seal.ts'
import { noLog } from '../../platform/log/log.ts'
import { OperatorError } from '../../platform/operator-error.ts'
import type { ProcessContext } from '../process-context.ts'
import { type SecureApi, startSecureApi } from './secure-api.ts'

let made: TestDatabase
let folder: string
let secure: SecureApi | undefined
const sealer = createSealer(randomBytes(32))
beforeAll(async () => {
  made = await testDatabase('sqlite')
  folder = await mkdtemp(join(tmpdir(), 'stead-secure-api-'))
})
afterEach(async () => {
  await secure?.stop()
  secure = undefined
})
afterAll(async () => {
  await made?.drop()
  if (folder) await rm(folder, { recursive: true })
})

const files = () => ({
  STEAD_API_TLS_CERTIFICATE: join(folder, 'chain.pem'),
  STEAD_API_TLS_KEY: join(folder, 'key.pem'),
})
async function place(name = 'api.test') {
  const { cert, private: key } = await generate([{ name: 'commonName', value: name }], {
    ...{ keyType: 'ec', algorithm: 'sha256' },
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: name }] }],
  })
  await writeFile(files().STEAD_API_TLS_CERTIFICATE, cert)
  await writeFile(files().STEAD_API_TLS_KEY, key)
  return cert
}
async function start(
  settings: Record<string, string>,
  answer: RequestListener = (_, response) => response.end('well'),
) {
  const config = { ...readConfig(settings), apiTlsListen: { host: '127.0.0.1', port: 0 } }
  const context = { config, database: made.database, sealer, log: noLog } as Partial<ProcessContext> as ProcessContext
  secure = (await startSecureApi(context, createServer(answer))) as SecureApi
  return secure.port
}
async function ask(port: number, servername: string, ca: string) {
  const socket = connect({ port, host: '127.0.0.1', servername, ca })
  await once(socket, 'secureConnect')
  socket.end('GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')
  let text = ''
  for await (const chunk of socket) text += chunk
  return text
}

test('is off unless an address is set', async () => {
  const context = { config: readConfig({}) } as Partial<ProcessContext> as ProcessContext
  expect(await startSecureApi(context, createServer())).toBeUndefined()
})

test('reads changed certificate files again, and keeps the first certificate when they are unusable', async () => {
  const first = await place()
  const port = await start(files())
  expect(await ask(port, 'api.test', first)).toMatch(/well$/)
  await writeFile(files().STEAD_API_TLS_KEY, 'half of a k')
  await expect(secure?.look()).rejects.toThrow(/STEAD_API_TLS_KEY.* cannot be used/)
  expect(await ask(port, 'api.test', first)).toMatch(/well$/)
  const second = await place()
  await secure?.look()
  expect(await ask(port, 'api.test', second)).toMatch(/well$/)
  await expect(ask(port, 'api.test', first)).rejects.toThrow(/self-signed|verify/i)
})

test('stops the start with the reason when it has no usable certificate', async () => {
  await place()
  await expect(start({ ...files(), STEAD_API_TLS_KEY: join(folder, 'none.pem') })).rejects.toThrow(
    /the file does not exist/,
  )
  await expect(start({ STEAD_API_TLS_KEY: join(folder, 'key.pem') })).rejects.toThrow(
    /Set STEAD_API_TLS_CERTIFICATE and STEAD_API_TLS_KEY together/,
  )
  await expect(start({})).rejects.toThrow(OperatorError)
  await expect(start({ STEAD_API_NAME: 'api.internal' })).rejects.toThrow(
    /No authority issues certificates for api.internal/,
  )
  const other = await generate([{ name: 'commonName', value: 'other' }], { keyType: 'ec' })
  await writeFile(files().STEAD_API_TLS_KEY, other.private)
  await expect(start(files())).rejects.toThrow(/does not match the certificate/)
})

test('issues its own certificate below a domain that no public authority knows', async () => {
  const port = await start({ STEAD_API_NAME: 'api.localhost' })
  const [authority] = await localAuthorities(made.database.read)
  expect(await ask(port, 'api.localhost', authority?.certificate as string)).toMatch(/well$/)
})

test('refuses clients that use plain text or obsolete TLS', async () => {
  await place()
  const port = await start(files())
  const old = { maxVersion: 'TLSv1.1', minVersion: 'TLSv1', ciphers: 'ALL:@SECLEVEL=0' } as const
  const socket = connect({ port, host: '127.0.0.1', servername: 'api.test', rejectUnauthorized: false, ...old })
  const [error] = await once(socket, 'error')
  expect(error.code).toBe('ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION')
})

test('waits for requests in flight when it stops', async () => {
  const ca = await place()
  let answer = () => {}
  const asked = new Promise<void>((come) => {
    void start(files(), (_, response) => {
      answer = () => response.end('late')
      come()
    })
  })
  await expect.poll(() => secure?.port).toBeGreaterThan(0)
  const text = ask(secure?.port as number, 'api.test', ca)
  await asked
  const stopped = secure?.stop()
  answer()
  expect(await text).toMatch(/late$/)
  await stopped
  secure = undefined
})
