import { once } from 'node:events'
import { SMTPServer } from 'smtp-server'
import type { Chance } from '../../support/seeded.ts'

export interface ReceivedMail {
  readonly to: string
  readonly messageId: string
}

export interface MailServer {
  readonly url: string
  readonly received: readonly ReceivedMail[]
  close(): Promise<void>
}

/**
 * Starts a mail server that now and then accepts a mail and disconnects before it confirms, or refuses it temporarily.
 * It accepts the second try.
 */
export async function startMailServer(chance: Chance): Promise<MailServer> {
  const received: ReceivedMail[] = []
  const known = new Set<string>()
  const server = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    onData(stream, session, done) {
      let text = ''
      stream.setEncoding('utf8').on('data', (chunk) => {
        text += chunk
      })
      stream.on('end', () => {
        const messageId = /^message-id:\s*(\S+)/im.exec(text)?.[1] ?? ''
        const isFirst = !known.has(messageId)
        known.add(messageId)
        if (isFirst && chance.is(0.1)) return done(Object.assign(new Error('later'), { responseCode: 451 }))
        for (const { address } of session.envelope.rcptTo) received.push({ to: address, messageId })
        done(isFirst && chance.is(0.1) ? Object.assign(new Error('lost'), { responseCode: 421 }) : null)
      })
    },
  })
  server.on('error', () => {})
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  const { port } = server.server.address() as { port: number }
  return {
    url: `smtp://127.0.0.1:${port}`,
    received,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}
