import type { Tx } from '../../../platform/db/database.ts'
import { letter } from '../../../platform/mail/letter.ts'
import { isOneMailbox } from '../../../platform/mail/mail-address.ts'
import { enqueueMail } from '../../../platform/mail/send-mail.job.ts'
import type { Site } from '../../sites/public.ts'
import { emailsOf } from './restore.store.ts'
import type { RestoreOrder } from './restore.ts'

interface Ended {
  readonly site: Site
  readonly order: RestoreOrder
  /** Either what was restored, or why nothing was and the site's state now. */
  readonly outcome: { readonly what: string } | { readonly reason: string; readonly state: string }
  readonly now: number
}

/** Mails the owner of a site, and the requester of the restore, how it ended. */
export async function tellOfRestore(tx: Tx, ended: Ended): Promise<void> {
  const { site, order, now } = ended
  const mail = 'what' in ended.outcome ? restoredMail(ended, ended.outcome.what) : failedMail(ended, ended.outcome)
  for (const to of await emailsOf(tx, [site.accountId, order.askedById]))
    if (isOneMailbox(to)) await enqueueMail(tx, { to, ...mail }, { now })
}

const restoredMail = ({ site }: Ended, what: string) =>
  letter(`${site.name} was restored`, [
    `Stead restored ${what} of the site ${site.name}. The site is open to visitors.`,
    `Stead keeps the overwritten content for 7 days. To undo the restore, open the backups of the site:`,
    { panel: `/sites/${site.id}/backups` },
  ])

const failedMail = ({ site }: Ended, { reason, state }: { readonly reason: string; readonly state: string }) =>
  letter(`${site.name} could not be restored`, [
    `The site ${site.name} could not be restored: ${reason}.`,
    `${state}. To try again, open the backups of the site:`,
    { panel: `/sites/${site.id}/backups` },
  ])
