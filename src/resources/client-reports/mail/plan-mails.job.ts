import { randomUUID } from 'node:crypto'
import Type from 'typebox'
import type { Config } from '../../../config.ts'
import type { Database, Tx } from '../../../platform/db/database.ts'
import { DAY_MS, HOUR_MS } from '../../../platform/durations.ts'
import { countMail } from '../../../platform/mail/mail-limit.ts'
import { durableWith, type StepContext } from '../../../platform/operations/definition.ts'
import { enqueue, ROUTINE } from '../../../platform/operations/enqueue.ts'
import { schedule } from '../../../platform/operations/schedule.ts'
import { findAccount } from '../../account/public.ts'
import { holdSite } from '../../sites/public.ts'
import { closedMonth } from '../close-month.job.ts'
import { storedContents } from '../contents.store.ts'
import { type Month, startOfMonth } from '../month.ts'
import { mailClientReport } from './mail-client-report.job.ts'
import { markMailed, missingRecipients, noteMail, sitesToMail } from './recipients.store.ts'

/** For so long after a month its reports are sent. Later, nobody waits for them. */
export const LATE_MS = 7 * DAY_MS
const SITES = 200

interface Services {
  readonly database: Database
  readonly config: Config
}

/** Requests the mails with the reports of the last month, once for each site and recipient. */
export const planMails = durableWith<Services>()({
  name: 'client_reports.plan_mails',
  input: Type.Object({}),
  on: 'control',
  changeableBy: 'account',
  steps: { request: { run: requestMails } },
})

export const planMailsOften = schedule({
  name: 'client_reports.plan_mails',
  everyMs: HOUR_MS / 4,
  definition: planMails,
  input: () => ({}),
})

/** Each site is one transaction, with the note of what was requested. So a crash, or a second control, sends nothing twice. */
export async function requestMails(
  context: Pick<StepContext<object, Services>, 'services' | 'transaction' | 'signal' | 'now'>,
): Promise<void> {
  const { services, transaction, signal, now } = context
  const month = closedMonth(now())
  if (month === undefined || now() >= startOfMonth(month + 1) + LATE_MS) return
  let after = 0
  for (;;) {
    const ids = await sitesToMail(services.database.read, { month, after, most: SITES })
    for (const siteId of ids) {
      signal.throwIfAborted()
      await transaction((tx) => requestOfSite(tx, { siteId, month, now: now() }))
    }
    const last = ids.at(-1)
    if (last === undefined) return
    after = last
  }
}

/** A mail that a limit holds back stays missing, and the next run requests it. */
async function requestOfSite(
  tx: Tx,
  { siteId, month, now }: { readonly siteId: number; readonly month: Month; readonly now: number },
): Promise<void> {
  const site = await holdSite(tx, siteId)
  if (site?.state !== 'live' || !(await storedContents(tx, siteId, month))) return
  const { accountId } = site
  const account = await findAccount(tx, accountId)
  if (!account || account.suspendedAt !== null) return
  let isHeldBack = false
  for (const to of await missingRecipients(tx, siteId, month)) {
    const verdict = await countMail(tx, { accountId, to, says: `client report ${siteId} ${month}`, now })
    if (verdict === 'address_full' || verdict === 'account_full') {
      isHeldBack = true
      continue
    }
    await noteMail(tx, { siteId, month, address: to, now })
    // IDs of operations restart in a new installation, and mailboxes drop mails with a known Message-ID.
    const key = randomUUID()
    await enqueue(tx, mailClientReport, { siteId, month, to, key, writtenAt: now }, { accountId, source: ROUTINE, now })
  }
  if (!isHeldBack) await markMailed(tx, siteId, month)
}
