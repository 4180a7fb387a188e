import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { createTransport as CreateTransport } from 'nodemailer'
import { writeFileDurably } from '../files/write-file.ts'
import { PANEL } from './letter.ts'

/** A mail that is ready to send. */
export interface MailMessage {
  /** Globally unique, and the same for a retry of the same mail. */
  readonly id: string
  readonly operationId: number
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html: string
  /** Milliseconds UTC. */
  readonly writtenAt: number
  /** The name that the sender's address has in this mail. */
  readonly senderName?: string | undefined
  readonly replyTo?: string | undefined
  readonly attachment?: MailAttachment | undefined
}

export interface MailAttachment {
  readonly name: string
  readonly type: 'application/pdf' | 'text/html'
  readonly content: Buffer
}

/** The mail server will not accept this mail, even if retried. */
export class MailRefused extends Error {
  override readonly name = 'MailRefused'
}

export interface Mailer {
  /**
   * Passes a mail to the mail server, or stores it as a file without one. A repeated call with the same message does no
   * harm.
   * @throws MailRefused, or a connection or server error that may be temporary
   */
  deliver(message: MailMessage, signal: AbortSignal): Promise<'sent' | 'kept'>
  close(): void
}

export interface MailerOptions {
  /** An `smtp://` or `smtps://` URL. `undefined`: mails are stored in the outbox. */
  readonly smtpUrl: string | undefined
  /** In the form `Name <address>`. */
  readonly from: string
  /** The folder for stored mails. */
  readonly outboxDir: string
  /** The URL of the control panel, to which mails link. */
  readonly panelUrl: string
}

type Transport = ReturnType<typeof CreateTransport>

/** Creates the mailer for Stead's own mails. */
export function createMailer({ smtpUrl, from, outboxDir, panelUrl }: MailerOptions): Mailer {
  const domain = /@([^@>\s]+)>?$/.exec(from)?.[1] ?? 'localhost'
  let opened: Promise<Transport> | undefined
  // Loaded with the first mail, because most processes never send one.
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

/**
 * Returns the fields without anything that depends on the moment, so that a retried mail is the same, byte for byte.
 */
function fieldsOf(message: MailMessage, from: string, domain: string) {
  const address = { name: '', address: message.to }
  const { senderName, replyTo, attachment } = message
  return {
    from: senderName ? { name: senderName, address: addressOf(from) } : from,
    ...(replyTo && { replyTo: { name: '', address: replyTo } }),
    ...(attachment && {
      attachments: [{ filename: attachment.name, contentType: attachment.type, content: attachment.content }],
    }),
    // An object is one recipient, whatever characters it contains.
    to: address,
    subject: message.subject,
    text: message.text,
    html: message.html,
    date: new Date(message.writtenAt),
    messageId: `<${message.id}@${domain}>`,
    baseBoundary: message.id,
    // RFC 3834: prevents out-of-office replies.
    headers: { 'Auto-Submitted': 'auto-generated' },
    disableFileAccess: true,
    disableUrlAccess: true,
  }
}

/** Returns the address of a sender in the form `Name <address>`. */
const addressOf = (from: string): string => /<([^>]*)>\s*$/.exec(from)?.[1] ?? from

/** Returns a name that sorts by time, and is the same for the same mail. */
const fileName = ({ writtenAt, operationId }: MailMessage): string =>
  `${new Date(writtenAt).toISOString().replaceAll(':', '-')}-${String(operationId).padStart(12, '0')}.eml`

/** Returns a mail server's URL with defaults. Options in the URL itself (`?name=value`) have precedence. */
export function smtpOptions(smtpUrl: string) {
  const { hostname, password } = new URL(smtpUrl)
  const local = isLocal(hostname)
  return {
    url: smtpUrl,
    connectionTimeout: 15_000,
    greetingTimeout: 15_000,
    socketTimeout: 60_000,
    // A password requires an encrypted connection, even if an attacker in between hides STARTTLS.
    requireTLS: password !== '' && !local,
    // On this machine no one is in between, and mail servers come with self-signed certificates.
    tls: { rejectUnauthorized: !local },
  }
}

const isLocal = (hostname: string): boolean => /^(localhost|127\.[\d.]+|\[::1\])$/i.test(hostname)

function explain(error: unknown): never {
  const { permanent, code, message } = error as { permanent?: boolean; code?: string; message: string }
  // The operator can fix a refused login (EAUTH). The mail itself is valid.
  if (permanent && (code === 'EENVELOPE' || code === 'EMESSAGE')) throw new MailRefused(message)
  throw error
}
