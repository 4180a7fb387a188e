import type { AddressInfo } from 'node:net'
import PostalMime, { type Email } from 'postal-mime'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'

export interface Received {
  readonly email: Email
  readonly raw: string
  readonly recipients: string[]
  /** Of the envelope. */
  readonly from: string
}

/** Starts a real mail server on loopback that keeps all mails. */
export async function mailServer(options: SMTPServerOptions = {}) {
  const received: Received[] = []
  const server = new SMTPServer({
    authOptional: true,
    logger: false,
    onData(stream, session, done) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk) => chunks.push(chunk))
      stream.on('end', async () => {
        const raw = Buffer.concat(chunks)
        const { mailFrom } = session.envelope
        const recipients = session.envelope.rcptTo.map(({ address }) => address)
        received.push({
          email: await PostalMime.parse(raw),
          raw: raw.toString(),
          recipients,
          from: mailFrom ? mailFrom.address : '',
        })
        done()
      })
    },
    ...options,
  })
  // a client rejected the certificate
  server.on('error', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.server.address() as AddressInfo
  return { received, port, close: () => new Promise<void>((resolve) => server.close(resolve)) }
}
