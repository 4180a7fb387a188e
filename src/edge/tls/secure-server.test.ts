/** What is negotiated with clients before a request. */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { connect, createSecureContext } from 'node:tls'
import { generate } from 'selfsigned'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { profile } from './profile.ts'
import { createSecureServer } from './secure-server.ts'

let server: ReturnType<typeof createSecureServer>
let port: number
beforeAll(async () => {
  const made = await generate([{ name: 'commonName', value: 'site.test' }], { keyType: 'ec', algorithm: 'sha256' })
  const context = createSecureContext({ ...profile, cert: made.cert, key: made.private, ca: [] })
  const parts = { contexts: { find: async () => context }, onFault() {}, speakHttp2() {}, metrics: undefined }
  server = createSecureServer(parts, { handshakeTimeout: 5000 })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  port = (server.address() as AddressInfo).port
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const where = () => ({ port, host: '127.0.0.1', servername: 'site.test', rejectUnauthorized: false })

test('refuses renegotiation by a TLS 1.2 client', async () => {
  const socket = connect({ ...where(), maxVersion: 'TLSv1.2' })
  await once(socket, 'secureConnect')
  const ended = new Promise<string>((resolve) => {
    socket.on('error', ({ message }) => resolve(message))
    socket.renegotiate({ rejectUnauthorized: false }, (error) => resolve(error?.message ?? 'made anew'))
  })
  expect(await ended).toMatch(/no.renegotiation/i)
  socket.destroy()
})

test('issues tickets with a lifetime of half a day', async () => {
  const words = ['s_client', '-connect', `127.0.0.1:${port}`, '-servername', 'site.test', '-tls1_2']
  const text = await new Promise<string>((resolve) => {
    const child = execFile('openssl', words, (_error, stdout) => resolve(stdout))
    child.stdin?.end('Q\n')
  })
  expect(text).toContain('TLS session ticket lifetime hint: 43200 (seconds)')
})
