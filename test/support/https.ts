import type { RequestListener } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { generate } from 'selfsigned'

/** An HTTPS server on 127.0.0.1, trusted only by clients that trust its CA. */
export interface HttpsServer {
  readonly port: number
  /** PEM. */
  readonly caCertificate: string
  close(): void
}

/** @param hostName the only name in its certificate */
export async function startHttps(hostName: string, answer: RequestListener): Promise<HttpsServer> {
  const ca = await generate([{ name: 'commonName', value: 'Test CA' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, critical: true },
    ],
  })
  const own = await generate([{ name: 'commonName', value: hostName }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: hostName }] }],
    ca: { key: ca.private, cert: ca.cert },
  })
  const server: Server = createServer({ key: own.private, cert: own.cert }, answer)
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  return {
    port: (server.address() as AddressInfo).port,
    caCertificate: ca.cert,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
