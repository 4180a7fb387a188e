import type { Tx } from '../../platform/db/database.ts'
import { Problem } from '../../platform/http/problem.ts'
import { letter, type MailBrand } from '../../platform/mail/letter.ts'
import { countMail, MAILS_OF_ACCOUNT, type MailVerdict } from '../../platform/mail/mail-limit.ts'
import { enqueueMail } from '../../platform/mail/send-mail.job.ts'
import { type Account, listLiveApplications } from '../account/public.ts'
import { brandOfMail, brandOfMailFrom } from '../branding/public.ts'
import type { Recording } from '../kit/change.ts'
import type { Context } from '../kit/context.ts'
import { canSignIn, enqueueInvitation } from '../sign-in/public.ts'
import { actions } from './actions.ts'
import { problems } from './problems.ts'

/** Returns whether an account can access the control panel or the API. */
const hasWayIn = async (tx: Tx, accountId: number): Promise<boolean> =>
  (await canSignIn(tx, accountId)) || (await listLiveApplications(tx, accountId)).length > 0

interface Words {
  /** The account that causes the mail, which limits apply to. */
  readonly accountId: number
  readonly to: string
  readonly subject: string
  readonly paragraphs: readonly string[]
  readonly brand?: MailBrand | undefined
}

/** @returns whether the mail is sent, or why not */
async function tell(tx: Tx, { accountId, to, subject, paragraphs, brand }: Words, now: number): Promise<MailVerdict> {
  const verdict = await countMail(tx, { accountId, to, says: [subject, ...paragraphs].join('\n'), now })
  if (verdict !== 'send') return verdict
  await enqueueMail(tx, { to, ...letter(subject, paragraphs, brand) }, { now })
  return verdict
}

/** Access that an account was given. */
export interface Given {
  /** Account that gave it. */
  readonly accountId: number
  /** E-mail address of the account that gave it. */
  readonly from: string
  readonly to: string
  readonly toId: number
  /** `the site shop`, `3 sites`. */
  readonly what: string
  /** The sites, or the account whose future sites they are. */
  readonly on: { readonly siteIds: readonly number[] } | { readonly ownerId: number }
}

const brandOfGiven = (tx: Tx, { on, toId }: Given): Promise<MailBrand | undefined> =>
  'ownerId' in on ? brandOfMailFrom(tx, on.ownerId) : brandOfMail(tx, { siteIds: on.siteIds, toId })

/** Mails an account without access a link that gives it. The link is created when the mail is sent. */
async function mailInvitation(tx: Tx, given: Given, now: number): Promise<MailVerdict> {
  const { accountId, from, to, toId, what } = given
  const verdict = await countMail(tx, { accountId, to, says: `invitation of ${from} to ${what}`, now })
  if (verdict !== 'send') return verdict
  await enqueueInvitation(tx, { accountId: toId, from, what, brand: await brandOfGiven(tx, given) }, now)
  return verdict
}

/** Mails an account that already has access. */
export async function mailNotice(tx: Tx, given: Given, now: number): Promise<MailVerdict> {
  const { accountId, from, to, what } = given
  const subject = `You can now work on ${what}`
  const paragraphs = [`${from} made you a collaborator on ${what}.`]
  return tell(tx, { accountId, to, subject, paragraphs, brand: await brandOfGiven(tx, given) }, now)
}

/** Mails the requester of a change on many sites when it is done or has failed. */
export const mailOutcome = (
  tx: Tx,
  { accountId, to, subject, lines }: { accountId: number; to: string; subject: string; lines: readonly string[] },
  now: number,
): Promise<MailVerdict> => tell(tx, { accountId, to, subject, paragraphs: lines }, now)

/**
 * Tells an account what a request gave it. Above the limits for one address, the change happens without the mail, which
 * the activity log notes. Above the caller's own limit, nothing happens.
 * @throws Problem `mail_limit_reached`
 */
export async function tellGiven(
  context: Context & Recording,
  { account, ...given }: { account: Pick<Account, 'id' | 'email'> } & Pick<Given, 'what' | 'on'>,
): Promise<void> {
  const { tx, caller, now } = context
  const { id: toId, email: to } = account
  const mail = (await hasWayIn(tx, toId)) ? mailNotice : mailInvitation
  const verdict = await mail(tx, { accountId: caller.accountId, from: caller.accountEmail, to, toId, ...given }, now)
  if (verdict === 'send') return
  if (verdict === 'account_full')
    throw new Problem(problems.mail_limit_reached, { limit: MAILS_OF_ACCOUNT }, { headers: { 'retry-after': '600' } })
  const why = verdict === 'repeated' ? 'got the same mail in the last hour' : 'got too many mails in the last hour'
  await context.record({ action: actions['account.collaborator'], message: `Sent no mail to ${to}, who ${why}` })
}

export const countOf = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`
