import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { createTransport as CreateTransport } from 'nodemailer'
import { writeFileDurably } from '../files/write-file.ts'
import { PANEL } from './letter.ts'

/** A mail ready to go. */
export interface Message {
  /** Unique in the world; the same again when the same mail is tried again. */
  readonly id: string
  readonly operationId: number
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html: string
  /** Milliseconds UTC. */
  readonly writtenAt: number
}

/** The mail server will not take this mail, however often it is asked. */
export class MailRefused extends Error {
  override readonly name = 'MailRefused'
}

export interface Mailer {
  /**
   * Hands a mail to the mail server, or keeps it as a file where there is none. Again with the same message does no harm.
   * @throws MailRefused, or the error of a connection or server that may be better later
   */
  deliver(message: Message, signal: AbortSignal): Promise<'sent' | 'kept'>
  close(): void
}

export interface MailerOptions {
  /** `smtp://` or `smtps://` address; `undefined`: mails are kept in the outbox. */
  readonly smtpUrl: string | undefined
  /** `Name <address>` */
  readonly from: string
  /** Folder for mails that are kept. */
  readonly outboxDir: string
  /** Address of the control panel, which mails link to. */
  readonly panelUrl: string
}

type Transport = ReturnType<typeof CreateTransport>

/** Sends what Stead itself has to say. */
export function createMailer({ smtpUrl, from, outboxDir, panelUrl }: MailerOptions): Mailer {
  const domain = /@([^@>\s]+)>?$/.exec(from)?.[1] ?? 'localhost'
  let opened: Promise<Transport> | undefined
  // loaded with the first mail: most processes never send one
  const transport = (): Promise<Transport> => {
    opened ??= import('nodemailer').then(({ createTransport }) =>
      smtpUrl ? createTransport(smtpOptions(smtpUrl)) : createTransport({ streamTransport: true, buffer: true }),
    )
    return opened
  }
  return {
    async deliver(message, signal) {
      const [text, html] = [message.text, message.html].map((each) => each.replaceAll(PANEL, () => panelUrl))
      const mail = { ...fieldsOf(message, from, domain), text, html, signal }
      const info = await (await transport()).sendMail(mail).catch(explain)
      if (smtpUrl) return 'sent'
      await mkdir(outboxDir, { recursive: true, mode: 0o700 })
      await writeFileDurably(join(outboxDir, fileName(message)), info.message as Buffer, 0o600)
      return 'kept'
    },
    close() {
      opened?.then((each) => each.close())
    },
  }
}

/** Without anything of the moment in it: a mail that is tried again is the same, byte for byte. */
function fieldsOf(message: Message, from: string, domain: string) {
  const address = { name: '', address: message.to }
  return {
    from,
    // an object is one recipient, whatever characters are in it
    to: address,
    subject: message.subject,
    text: message.text,
    html: message.html,
    date: new Date(message.writtenAt),
    messageId: `<${message.id}@${domain}>`,
    baseBoundary: message.id,
    // RFC 3834: keeps out-of-office replies away
    headers: { 'Auto-Submitted': 'auto-generated' },
    disableFileAccess: true,
    disableUrlAccess: true,
  }
}

/** Sorts by time, and is the same again for the same mail. */
const fileName = ({ writtenAt, operationId }: Message): string =>
  `${new Date(writtenAt).toISOString().replaceAll(':', '-')}-${String(operationId).padStart(12, '0')}.eml`

/** A mail server's address with what it leaves open; what the address itself says (`?name=value`) wins. */
export function smtpOptions(smtpUrl: string) {
  const { hostname, password } = new URL(smtpUrl)
  const local = isLocal(hostname)
  return {
    url: smtpUrl,
    connectionTimeout: 15_000,
    greetingTimeout: 15_000,
    socketTimeout: 60_000,
    // a password goes over an encrypted connection only, even when somebody in between hides that the server has STARTTLS
    requireTLS: password !== '' && !local,
    // nobody is in between on this machine, and mail servers come with a certificate that they made themselves
    tls: { rejectUnauthorized: !local },
  }
}

const isLocal = (hostname: string): boolean => /^(localhost|127\.[\d.]+|\[::1\])$/i.test(hostname)

function explain(error: unknown): never {
  const { permanent, code, message } = error as { permanent?: boolean; code?: string; message: string }
  // a refused log-in (EAUTH) is the operator's to mend; the mail itself is all right
  if (permanent && (code === 'EENVELOPE' || code === 'EMESSAGE')) throw new MailRefused(message)
  throw error
}
