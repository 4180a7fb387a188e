import { hash, randomBytes } from 'node:crypto'
import Type from 'typebox'
import type { Tx } from '../../../platform/db/database.ts'
import { oneOf } from '../../../platform/http/schemas.ts'
import { letter, type MailBrand } from '../../../platform/mail/letter.ts'
import { MailRefused } from '../../../platform/mail/mailer.ts'
import { durableWith, PermanentFailure } from '../../../platform/operations/definition.ts'
import { enqueue } from '../../../platform/operations/enqueue.ts'
import { findAccount } from '../../account/public.ts'
import type { ControlServices } from '../../kit/control-services.ts'
import { type PanelSettings, panelAddress } from '../../kit/panel-address.ts'
import { countFreshLinks, insertPasswordLink } from '../credentials.store.ts'

/** How long links are valid, by the reason why a person gets one. */
const LIFE_MS = { lost: 3600_000, invitation: 7 * 86_400_000, first: 7 * 86_400_000 }
export type LinkKind = keyof typeof LIFE_MS

/** Limit for links of all kinds to one account, so that nobody can flood a mailbox by knowing its address. */
const MOST_AN_HOUR = 3

/**
 * Creates a link to set a password once.
 * @returns its address. The secret is after `#`, which browsers do not send
 */
export async function makeLink(
  tx: Tx,
  config: PanelSettings,
  {
    accountId,
    kind,
    operationId,
    now,
  }: { accountId: number; kind: LinkKind; operationId?: number | undefined; now: number },
): Promise<string> {
  const token = randomBytes(32).toString('base64url')
  const times = { now, expiresAt: now + LIFE_MS[kind] }
  await insertPasswordLink(tx, { hash: hash('sha256', token, 'hex'), accountId, operationId, ...times })
  return `${panelAddress(config)}/#/${kind === 'invitation' ? 'invitation' : 'set-password'}/${token}`
}

/**
 * Mails a link to set a password. The link is created when the mail is sent, so that no record contains its secret. A
 * retry creates another one, and all attempts count as one mail.
 */
export const mailLink = durableWith<Pick<ControlServices, 'mailer' | 'config' | 'database'>>()({
  name: 'password.mail_link',
  input: Type.Object({
    accountId: Type.Integer(),
    kind: oneOf(['lost', 'invitation']),
    /** Only for an invitation: the inviting person, and the site or sites. */
    from: Type.Optional(Type.String()),
    what: Type.Optional(Type.String()),
    /** The account on whose behalf it is sent. */
    brand: Type.Optional(
      Type.Object({
        name: Type.String(),
        color: Type.Union([Type.String(), Type.Null()]),
        replyTo: Type.Union([Type.String(), Type.Null()]),
      }),
    ),
  }),
  on: 'control',
  changeableBy: 'account',
  attempts: 8,
  steps: {
    deliver: {
      async run({ services, input, operationId, signal, now, transaction }) {
        const { accountId, kind } = input
        const account = await findAccount(services.database.read, accountId)
        if (!account) throw new PermanentFailure('The account was deleted')
        const link = await transaction(async (tx) => {
          const others = { accountId, since: now() - 3600_000, exceptOperationId: operationId }
          if ((await countFreshLinks(tx, others)) >= MOST_AN_HOUR) return undefined
          return makeLink(tx, services.config, { accountId, kind, operationId, now: now() })
        })
        if (!link) throw new PermanentFailure('Stead already sent three links to this address in the last hour')
        const { html, ...mail } = kind === 'lost' ? lostLetter(link) : invitationLetter(link, account.email, input)
        const message = { ...mail, to: account.email, html: html.html, writtenAt: now() }
        try {
          await services.mailer.deliver({ ...message, id: `${operationId}.link`, operationId }, signal)
        } catch (error) {
          if (error instanceof MailRefused) throw new PermanentFailure(error.message)
          throw error
        }
      },
    },
  },
})

interface Invitation {
  /** The inviting person, and the site or sites. */
  readonly from: string
  readonly what: string
  readonly brand?: MailBrand | undefined
}

/** Enqueues a mail to an account that another account has given access to something. */
export const enqueueInvitation = (
  tx: Tx,
  { brand, ...invitation }: Invitation & { readonly accountId: number },
  now: number,
): Promise<number> => {
  const input = { ...invitation, kind: 'invitation' as const, ...(brand && { brand }) }
  return enqueue(tx, mailLink, input, { accountId: invitation.accountId, now })
}

const lostLetter = (link: string) =>
  letter('Set a new password', [
    'Someone, probably you, requested a new password for the Stead control panel. Open this link to set it. The link works once and expires in one hour:',
    { link },
    'If you did not request this, ignore this mail. Nothing changes unless you open the link.',
  ])

const invitationLetter = (link: string, email: string, { from, what, brand }: Partial<Invitation>) => {
  const subject = what ? `${from} invites you to work on ${what}` : 'Your access to the Stead control panel'
  const paragraphs = [
    ...(what ? [`${from} made you a collaborator on ${what}.`] : []),
    `${brand ? 'An' : 'A Stead'} account was created for ${email}. Open this link to set your password and sign in. The link works once and expires in one week:`,
    { link },
    'If you did not expect this mail, ignore it.',
  ]
  return letter(subject, paragraphs, brand)
}
