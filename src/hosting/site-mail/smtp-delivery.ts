import { createReadStream } from 'node:fs'
import type { createTransport as CreateTransport } from 'nodemailer'
import { smtpOptions } from '../../platform/mail/mailer.ts'
import type { WaitingMail } from './queue.ts'

/** The key that signs mails of sites (RFC 6376). */
export interface DkimKey {
  readonly domainName: string
  readonly keySelector: string
  readonly privateKey: string
}

/** A recipient that did not get a mail, with the message of the mail server. */
export interface RefusedRecipient {
  readonly address: string
  readonly why: string
  /** Another attempt would get the same answer. */
  readonly isFinal: boolean
}

export interface MailDelivery {
  /**
   * Passes a mail to the mail server.
   * @returns the recipients that were refused
   * @throws when no recipient got it, and a later attempt may succeed
   */
  send(mail: WaitingMail, file: string): Promise<RefusedRecipient[]>
  close(): void
}

interface SmtpFault {
  readonly code?: string
  readonly permanent?: boolean
  readonly recipient?: string
  readonly message: string
  readonly rejectedErrors?: readonly SmtpFault[]
}

export interface SmtpDeliveryOptions {
  readonly smtpUrl: string
  readonly dkim: DkimKey | undefined
  /** A folder for large mails while they are signed. */
  readonly folder: string
}

/** Returns the delivery through the mail server of the settings. */
export function smtpDelivery({ smtpUrl, dkim, folder }: SmtpDeliveryOptions): MailDelivery {
  let opened: Promise<ReturnType<typeof CreateTransport>> | undefined
  // Loaded with the first mail, because most hosts send none for a long time.
  const transport = () => {
    opened ??= import('nodemailer').then(({ createTransport }) =>
      createTransport({ ...smtpOptions(smtpUrl), ...(dkim && { dkim: { ...dkim, cacheDir: folder } }) }),
    )
    return opened
  }
  return {
    async send({ envelope }, file) {
      const raw = createReadStream(file)
      // The stream has no reader when the server is unavailable.
      raw.on('error', () => {})
      try {
        const info = await (await transport()).sendMail({
          envelope: { from: envelope.from, to: [...envelope.to] },
          raw,
        })
        return refusedOf(info as SmtpFault)
      } catch (error) {
        return refusedBy(error as SmtpFault, envelope.to)
      } finally {
        raw.destroy()
      }
    },
    close() {
      opened?.then((each) => each.close())
    },
  }
}

const refusedOf = ({ rejectedErrors = [] }: Pick<SmtpFault, 'rejectedErrors'>): RefusedRecipient[] =>
  rejectedErrors.map(({ recipient = '', message, permanent }) => ({
    address: recipient,
    why: message,
    isFinal: permanent === true,
  }))

/** @throws errors unrelated to the mail, such as an unavailable server or a rejected login */
function refusedBy(error: SmtpFault, recipients: readonly string[]): RefusedRecipient[] {
  if (error.code === 'EENVELOPE' && error.rejectedErrors?.length) return refusedOf(error)
  const isOfMail = error.code === 'EENVELOPE' || error.code === 'EMESSAGE'
  if (!isOfMail || !error.permanent) throw error
  return recipients.map((address) => ({ address, why: error.message, isFinal: true }))
}
