import { lockForUpdate, type Tx } from '../../../platform/db/database.ts'
import { isOneMailbox } from '../../../platform/mail/mail-address.ts'
import { enqueueMail } from '../../../platform/mail/send-mail.job.ts'
import { findAccount } from '../../account/public.ts'
import { brandOfMail } from '../../branding/public.ts'
import { PLATFORM } from '../alert.ts'
import { alertSettingsOf, setAlertSettings } from '../alert-settings.store.ts'
import { isChosen } from '../alert-settings.ts'
import { mutesOfAccount } from '../mute.store.ts'
import { isMuted } from '../mute.ts'
import { alertMail } from './alert-mail.ts'
import { accountsToMail, BY_MAIL, type DueNotice, dueNotices, endNotices, stillSeen } from './notice.store.ts'

/** Between two mails to one account, whatever they are about. */
export const PAUSE_MS = 300_000
/** Accounts of one transaction. */
const ACCOUNTS = 20
/** Alerts of one mail. */
const MOST = 500

/**
 * Sends each account one mail with everything that is due.
 * @returns how many accounts; call again until it is 0
 */
export async function mailAlerts(tx: Tx, now: number): Promise<number> {
  const ids = await accountsToMail(tx, { now, pauseMs: PAUSE_MS, most: ACCOUNTS })
  for (const id of ids) await mailTo(tx, id, now)
  return ids.length
}

async function mailTo(tx: Tx, accountId: number, now: number): Promise<void> {
  await lockForUpdate(tx, 'accounts', accountId)
  const about = { accountId, chatId: BY_MAIL }
  const notices = await dueNotices(tx, { ...about, now, most: MOST })
  const wanted = await reaching(tx, accountId, notices, now)
  await endNotices(
    tx,
    about,
    notices.filter((each) => !wanted.includes(each)),
    null,
  )
  const account = await findAccount(tx, accountId)
  await endNotices(tx, about, wanted, now)
  if (!account || wanted.length === 0 || !isOneMailbox(account.email)) return
  await setAlertSettings(tx, accountId, { mailed_at: now })
  const siteIds = [...new Set(wanted.map(({ siteId }) => siteId))]
  const brand = siteIds.includes(PLATFORM) ? undefined : await brandOfMail(tx, { siteIds, toId: accountId })
  await enqueueMail(tx, { to: account.email, ...alertMail(wanted, now, brand) }, { now })
}

/** Returns the notices that the person wants, of sites that they still see. */
async function reaching(tx: Tx, accountId: number, notices: readonly DueNotice[], now: number): Promise<DueNotice[]> {
  const settings = await alertSettingsOf(tx, accountId)
  const mutes = await mutesOfAccount(tx, accountId, now)
  const seen = await stillSeen(tx, accountId, notices)
  return seen.filter((each) => isChosen(settings, 'mail', each.kind) && !isMuted(mutes, each, now))
}
