import type { Tx } from '../../platform/db/database.ts'
import { html, mailPage } from '../../platform/mail/html.ts'
import { enqueueMail } from '../../platform/mail/send-mail.job.ts'

interface Words {
  readonly to: string
  readonly subject: string
  readonly paragraphs: readonly string[]
}

async function tell(tx: Tx, { to, subject, paragraphs }: Words, now: number): Promise<void> {
  const content = html`${paragraphs.map((each) => html`<p>${each}</p>`)}`
  await enqueueMail(
    tx,
    { to, subject, text: `${paragraphs.join('\n\n')}\n`, html: mailPage(subject, content) },
    { now },
  )
}

/** What somebody was given. */
export interface Given {
  /** E-mail address of whoever gave it. */
  readonly from: string
  readonly to: string
  /** `the site shop`, `3 sites`. */
  readonly what: string
}

/** To an address that had no account until now. */
export const mailInvitation = (tx: Tx, { from, to, what }: Given, now: number): Promise<void> =>
  tell(
    tx,
    {
      to,
      subject: `${from} invites you to work on ${what}`,
      paragraphs: [
        `${from} made you a collaborator on ${what}.`,
        `A Stead account was made for ${to}. Ask ${from} or whoever runs this Stead for access to its API.`,
        'If you did not expect this, you need not do anything.',
      ],
    },
    now,
  )

/** To somebody who has an account. */
export const mailNotice = (tx: Tx, { from, to, what }: Given, now: number): Promise<void> =>
  tell(
    tx,
    {
      to,
      subject: `You can now work on ${what}`,
      paragraphs: [`${from} made you a collaborator on ${what}.`],
    },
    now,
  )

/** To who asked for a change on many sites, when it is done or has failed. */
export const mailOutcome = (
  tx: Tx,
  { to, subject, lines }: { to: string; subject: string; lines: readonly string[] },
  now: number,
): Promise<void> => tell(tx, { to, subject, paragraphs: lines }, now)

export const countOf = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`
