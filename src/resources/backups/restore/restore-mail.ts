import type { Tx } from '../../../platform/db/database.ts'
import { letter, type MailBrand } from '../../../platform/mail/letter.ts'
import { isOneMailbox } from '../../../platform/mail/mail-address.ts'
import { enqueueMail } from '../../../platform/mail/send-mail.job.ts'
import { brandOfMail } from '../../branding/public.ts'
import type { Site } from '../../sites/public.ts'
import { mailboxesOf } from './restore.store.ts'
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
  for (const { id: toId, email: to } of await mailboxesOf(tx, [site.accountId, order.askedById])) {
    if (!isOneMailbox(to)) continue
    const brand = await brandOfMail(tx, { siteIds: [site.id], toId })
    await enqueueMail(tx, { to, ...mailOf(ended, brand) }, { now })
  }
}

function mailOf({ site, outcome }: Ended, brand: MailBrand | undefined) {
  const backups = { panel: `/sites/${site.id}/backups` }
  if ('reason' in outcome) {
    const paragraphs = [
      `The site ${site.name} could not be restored: ${outcome.reason}.`,
      `${outcome.state}. To try again, open the backups of the site:`,
      backups,
    ]
    return letter(`${site.name} could not be restored`, paragraphs, brand)
  }
  const paragraphs = [
    `The site ${site.name} was restored: ${outcome.what}. It is open to visitors.`,
    'You can undo the restore for 7 days. Open the backups of the site:',
    backups,
  ]
  return letter(`${site.name} was restored`, paragraphs, brand)
}
