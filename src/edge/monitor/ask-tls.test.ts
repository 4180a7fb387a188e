import { generate } from 'selfsigned'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createCleanup, listen, routeTo, startGateway } from '../test-support.ts'
import { createSecureContexts } from '../tls/secure-contexts.ts'
import { askTls } from './ask-tls.ts'

const KEY = 'key-of-the-host'
const cleanup = createCleanup()
afterAll(() => cleanup.run())
let port: number
const visited: string[] = []

async function certificateOf(name: string, days: number) {
  const notBeforeDate = new Date(Date.now() - 10 * 86_400_000)
  const notAfterDate = new Date(Date.now() + days * 86_400_000)
  const made = await generate([{ name: 'commonName', value: name }], {
    ...{ keyType: 'ec', algorithm: 'sha256', notBeforeDate, notAfterDate },
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: name }] }],
  })
  return { chain: made.cert, key: made.private, issuedAt: 1 }
}

beforeAll(async () => {
  const certificates: Record<string, Awaited<ReturnType<typeof certificateOf>>> = {
    'site.test': await certificateOf('site.test', 30),
    'old.test': await certificateOf('old.test', -1),
    'wrong.test': await certificateOf('right.test', 30),
  }
  const find = (hostName: string) => routeTo('http://127.0.0.1:1', { hostName, certifiedAt: 1 })
  const contexts = createSecureContexts({
    routes: { find },
    load: async (name) => certificates[name],
    onVisitor: ({ hostName }) => visited.push(hostName),
  })
  const { gateway } = await startGateway(cleanup, {}, { secureContexts: contexts })
  const server = gateway.secureServer as NonNullable<typeof gateway.secureServer>
  port = await listen(server)
  cleanup.add(() => server.closeAllConnections())
})

const faultOf = (hostName: string) => askTls(hostName, { host: '127.0.0.1', port }, KEY)

test('finds a certificate that is missing, of another name, or over, and wakes no site', async () => {
  expect(await faultOf('site.test')).toBeUndefined()
  expect(await faultOf('old.test')).toBe('The certificate of old.test has expired')
  expect(await faultOf('wrong.test')).toBe('The certificate of wrong.test is for another name')
  expect(await faultOf('none.test')).toContain('The TLS handshake for none.test failed')
  expect(await askTls('site.test', { host: '127.0.0.1', port: 1 }, KEY)).toContain('failed')
  expect(visited).toEqual([])
})
