import { randomUUID } from 'node:crypto'
import Type from 'typebox'
import type { Tx } from '../db/database.ts'
import { durableWith, PermanentFailure } from '../operations/definition.ts'
import { enqueue } from '../operations/enqueue.ts'
import type { Html } from './html.ts'
import { isOneMailbox } from './mail-address.ts'
import { type Mailer, MailRefused } from './mailer.ts'

/** The content of a mail, as the resource that sends it writes it. */
export interface Mail {
  /** One address without a name; see {@link isOneMailbox}. */
  readonly to: string
  readonly subject: string
  /** The same content for mail programs that show no HTML. */
  readonly text: string
  readonly html: Html
  /** Of a mail on behalf of an account. */
  readonly senderName?: string
  readonly replyTo?: string
}

/** The services that a worker needs to send mails. */
export interface MailServices {
  readonly mailer: Mailer
}

/**
 * Sends one mail. After a crash between the mail server's acceptance and the record of it, the mail is sent again, with
 * the same `Message-ID`, so that mailboxes recognize it. It is retried for one to two days.
 */
export const sendMail = durableWith<MailServices>()({
  name: 'mail.send',
  input: Type.Object({
    to: Type.String(),
    subject: Type.String(),
    text: Type.String(),
    html: Type.String(),
    writtenAt: Type.Integer(),
    key: Type.String(),
    senderName: Type.Optional(Type.String()),
    replyTo: Type.Optional(Type.String()),
  }),
  on: 'control',
  changeableBy: 'account',
  attempts: 16,
  backoff: { firstMs: 5000, factor: 3, mostMs: 6 * 3600_000 },
  steps: {
    deliver: {
      async run({ services, input, operationId, signal }) {
        const { key, ...mail } = input
        try {
          return await services.mailer.deliver({ ...mail, id: `${operationId}.${key}`, operationId }, signal)
        } catch (error) {
          // A retry would get the same answer (RFC 5321 §4.2.1: 5yz).
          if (error instanceof MailRefused) throw new PermanentFailure(error.message)
          throw error
        }
      },
    },
  },
})

/**
 * Requests a mail, which is sent if and only if the transaction commits. The mail stays in the database as long as its
 * operation, so it must not contain secrets.
 * @returns the id of the operation that sends it
 * @throws TypeError for an address that {@link isOneMailbox} refuses
 */
export async function enqueueMail(tx: Tx, mail: Mail, { now }: { now: number }): Promise<number> {
  if (!isOneMailbox(mail.to)) throw new TypeError('a mail needs one plain e-mail address')
  const input = {
    to: mail.to,
    // A line break would begin the next header.
    subject: mail.subject.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').slice(0, 200),
    text: mail.text,
    html: mail.html.html,
    writtenAt: now,
    // Ids of operations restart in a new installation, and mailboxes drop mails with a known Message-ID.
    key: randomUUID(),
    ...(mail.senderName !== undefined && { senderName: mail.senderName }),
    ...(mail.replyTo !== undefined && { replyTo: mail.replyTo }),
  }
  return enqueue(tx, sendMail, input, { now })
}
