import type { Tx } from '../../platform/db/database.ts'
import { letter } from '../../platform/mail/letter.ts'
import { isOneMailbox } from '../../platform/mail/mail-address.ts'
import { countMail } from '../../platform/mail/mail-limit.ts'
import { enqueueMail } from '../../platform/mail/send-mail.job.ts'
import type { FailureContext } from '../../platform/operations/definition.ts'
import { isWildcard } from '../../platform/wildcard-name.ts'
import { findAccount } from '../account/public.ts'
import { changeOfJob } from '../kit/change.ts'
import { actions } from './actions.ts'
import { changeName, findName, type StoredCertificate } from './certificate.store.ts'
import { NO_SITE } from './own-names.ts'

type Context = Pick<FailureContext, 'accountId' | 'operationId' | 'now' | 'canceled'>

/** Share of the time between renewal and expiry after which a mail is sent. */
const SHARE_BEFORE_MAIL = 1 / 2

/** Logs an issued certificate for the site, or for the account if the name is the installation's. */
export async function tellIssued(tx: Tx, context: Omit<Context, 'canceled'>, hostName: string): Promise<void> {
  const row = await findName(tx, hostName)
  if (!row || context.accountId === null) return
  const isOwn = row.site_id === NO_SITE
  await changeOfJob(tx, { ...context, siteId: isOwn ? null : row.site_id }).record({
    action: isOwn ? actions['own_certificate.issued'] : actions['certificate.issued'],
    message: `A certificate was issued for ${hostName}`,
  })
}

/** Logs each new reason once. Mails when the current certificate is about to expire, and again when it has. */
export async function tellFailed(tx: Tx, context: Context, row: StoredCertificate, reason: string): Promise<void> {
  const { accountId, now } = context
  if (accountId === null) return
  const isOwn = row.site_id === NO_SITE
  if (row.reason !== reason)
    await changeOfJob(tx, { ...context, siteId: isOwn ? null : row.site_id }).record({
      action: isOwn ? actions['own_certificate.failed'] : actions['certificate.failed'],
      message: `No certificate for ${row.host_name}: ${reason}`,
    })
  const stage = context.canceled ? row.told : stageOf(row, now())
  if (stage <= row.told) return
  await changeName(tx, row.host_name, { told: stage })
  await mailOf(tx, { ...context, accountId, row, reason, hasEnded: stage === ENDED })
}

const SOON = 1
const ENDED = 2

/** Returns how close to expiry a certificate is that was not renewed. */
function stageOf({ chain, issued_at: from, expires_at: until }: StoredCertificate, now: number): number {
  if (chain === null || from === null || until === null) return 0
  if (now >= until) return ENDED
  const dueMs = (until - from) / 3
  return until - now < dueMs * SHARE_BEFORE_MAIL ? SOON : 0
}

interface News extends Context {
  readonly accountId: number
  readonly row: StoredCertificate
  readonly reason: string
  readonly hasEnded: boolean
}

async function mailOf(tx: Tx, { accountId, now, row, reason, hasEnded }: News): Promise<void> {
  const owner = await findAccount(tx, accountId)
  if (!owner || !isOneMailbox(owner.email)) return
  const { host_name: hostName, expires_at: until } = row
  const day = new Date(until ?? 0).toISOString().slice(0, 16).replace('T', ' ')
  const names = isWildcard(hostName) ? `the names below ${hostName.slice(2)}` : hostName
  const subject = hasEnded
    ? `The certificate of ${hostName} has expired`
    : `The certificate of ${hostName} expires soon`
  const state = hasEnded
    ? `The certificate of ${hostName} expired at ${day} UTC. Browsers show a warning to everyone who opens ${names} over https. Stead no longer redirects visitors to https. http works as before.`
    : `The certificate of ${hostName} expires at ${day} UTC, and Stead has no newer one. From then on, browsers show a warning to everyone who opens ${names} over https.`
  const mail = letter(subject, [
    state,
    `Stead could not renew the certificate: ${reason}.`,
    'Stead keeps trying at least once a day. For the last attempts, open the operations:',
    { panel: '/operations' },
  ])
  const about = { accountId, to: owner.email, says: mail.subject, now: now() }
  if ((await countMail(tx, about)) === 'send') await enqueueMail(tx, { to: owner.email, ...mail }, { now: now() })
}
