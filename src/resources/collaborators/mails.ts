import type { Tx } from '../../platform/db/database.ts'
import { Problem } from '../../platform/http/problem.ts'
import { letter } from '../../platform/mail/letter.ts'
import { countMail, MAILS_OF_ACCOUNT, type Verdict } from '../../platform/mail/mail-limit.ts'
import { enqueueMail } from '../../platform/mail/send-mail.job.ts'
import { type Account, listLiveApplications } from '../account/account.ts'
import type { Recording } from '../kit/change.ts'
import type { Context } from '../kit/context.ts'
import { enqueueInvitation } from '../sign-in/password/mail-link.job.ts'
import { canSignIn } from '../sign-in/way-in.ts'
import { actions } from './actions.ts'
import { problems } from './problems.ts'

/** To the control panel, or to the API. */
const hasWayIn = async (tx: Tx, accountId: number): Promise<boolean> =>
  (await canSignIn(tx, accountId)) || (await listLiveApplications(tx, accountId)).length > 0

interface Words {
  /** Whose doing it is: mails are limited by it. */
  readonly accountId: number
  readonly to: string
  readonly subject: string
  readonly paragraphs: readonly string[]
}

/** @returns whether the mail goes out, or why it does not */
async function tell(tx: Tx, { accountId, to, subject, paragraphs }: Words, now: number): Promise<Verdict> {
  const verdict = await countMail(tx, { accountId, to, says: [subject, ...paragraphs].join('\n'), now })
  if (verdict !== 'send') return verdict
  await enqueueMail(tx, { to, ...letter(subject, paragraphs) }, { now })
  return verdict
}

/** What somebody was given. */
export interface Given {
  /** Account of whoever gave it. */
  readonly accountId: number
  /** E-mail address of whoever gave it. */
  readonly from: string
  readonly to: string
  /** `the site shop`, `3 sites`. */
  readonly what: string
}

/** To somebody who has no way in yet, with a link that gives one. The link is made when the mail goes out. */
async function mailInvitation(tx: Tx, { accountId, from, to, toId, what }: Invited, now: number): Promise<Verdict> {
  const verdict = await countMail(tx, { accountId, to, says: `invitation of ${from} to ${what}`, now })
  if (verdict !== 'send') return verdict
  await enqueueInvitation(tx, { accountId: toId, from, what }, now)
  return verdict
}

/** To somebody who has a way in. */
export const mailNotice = (tx: Tx, { accountId, from, to, what }: Given, now: number): Promise<Verdict> =>
  tell(
    tx,
    {
      accountId,
      to,
      subject: `You can now work on ${what}`,
      paragraphs: [`${from} made you a collaborator on ${what}.`],
    },
    now,
  )

interface Invited extends Given {
  readonly toId: number
}

/** To who asked for a change on many sites, when it is done or has failed. */
export const mailOutcome = (
  tx: Tx,
  { accountId, to, subject, lines }: { accountId: number; to: string; subject: string; lines: readonly string[] },
  now: number,
): Promise<Verdict> => tell(tx, { accountId, to, subject, paragraphs: lines }, now)

/**
 * Tells somebody what a request gave him. Over the limits for one address the change happens and the mail is left out, which the
 * activity log says; over the account's own nothing happens.
 * @throws Problem `mail_limit_reached`
 */
export async function tellGiven(
  context: Context & Recording,
  { account, what }: { account: Pick<Account, 'id' | 'email'>; what: string },
): Promise<void> {
  const { tx, caller, now } = context
  const { id: toId, email: to } = account
  const mail = (await hasWayIn(tx, toId)) ? mailNotice : mailInvitation
  const verdict = await mail(tx, { accountId: caller.accountId, from: caller.accountEmail, to, toId, what }, now)
  if (verdict === 'send') return
  if (verdict === 'account_full')
    throw new Problem(problems.mail_limit_reached, { limit: MAILS_OF_ACCOUNT }, { headers: { 'retry-after': '600' } })
  const why = verdict === 'repeated' ? 'got the same mail in the last hour' : 'got too many mails in the last hour'
  await context.record({ action: actions['account.collaborator'], message: `Sent no mail to ${to}, who ${why}` })
}

export const countOf = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`
