import { connect as connectPlain } from 'node:net'
import { connect, createSecureContext, type SecureContext } from 'node:tls'
import { siteHeader } from '../../platform/http/client/proxy-protocol.ts'
import { declareMemory } from '../../platform/process-memory.ts'
import { QUESTION_MS } from './finding.ts'

/** Without roots, which take longer to load than a handshake. Created with the first question. */
let withoutRoots: SecureContext | undefined
declareMemory(() => {
  withoutRoots = undefined
})

/**
 * Returns why browsers would refuse the certificate of a name, as a sentence without a full stop; undefined when they
 * would not. Whether they trust its authority is not checked: the edge serves only what Stead has ordered.
 * @param edge the listener with TLS
 */
export function askTls(
  hostName: string,
  edge: { readonly host: string; readonly port: number },
  edgeKey: string,
  now: () => number = Date.now,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    withoutRoots ??= createSecureContext({ ca: [] })
    const plain = connectPlain({ ...edge, noDelay: true })
    plain.on('error', () => {})
    plain.write(siteHeader(edgeKey, 'https', 'every'))
    const socket = connect({
      socket: plain,
      servername: hostName,
      rejectUnauthorized: false,
      secureContext: withoutRoots,
      ALPNProtocols: ['http/1.1'],
    })
    const done = (fault: string | undefined) => {
      clearTimeout(timer)
      socket.destroy()
      plain.destroy()
      resolve(fault)
    }
    const timer = setTimeout(() => done(`The TLS handshake for ${hostName} took too long`), QUESTION_MS)
    socket.once('error', ({ message }) => done(`The TLS handshake for ${hostName} failed (${message})`))
    socket.once('secureConnect', () => {
      const certificate = socket.getPeerX509Certificate()
      if (!certificate) return done(`The edge has no certificate for ${hostName}`)
      if (!certificate.checkHost(hostName)) return done(`The certificate of ${hostName} is for another name`)
      const [from, until] = [certificate.validFrom, certificate.validTo].map((text) => Date.parse(text)) as [
        number,
        number,
      ]
      if (now() > until) return done(`The certificate of ${hostName} has expired`)
      done(now() < from ? `The certificate of ${hostName} is not valid yet` : undefined)
    })
  })
}
