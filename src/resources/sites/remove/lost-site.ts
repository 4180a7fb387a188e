import type { Tx } from '../../../platform/db/database.ts'
import { letter } from '../../../platform/mail/letter.ts'
import { isOneMailbox } from '../../../platform/mail/mail-address.ts'
import { enqueueMail } from '../../../platform/mail/send-mail.job.ts'
import { changeBy } from '../../kit/change.ts'
import { actions } from '../actions.ts'

/** A fault that comes and goes is reported once a day. */
const TELL_AGAIN_MS = 86_400_000

/**
 * Reports to the owner and the operator, once, that a site's database or directory was found missing.
 * @param loss.fault description of the fault: "its database file is missing"
 */
export async function tellOfLostSite(
  tx: Tx,
  loss: { siteId: number; fault: string; operatorEmail: string; now: number },
): Promise<void> {
  const { siteId, fault, operatorEmail, now } = loss
  const site = await tx
    .updateTable('sites')
    .set({ lost_at: now })
    .where('id', '=', siteId)
    .where('deleted_at', 'is', null)
    .where(({ eb, or }) => or([eb('lost_at', 'is', null), eb('lost_at', '<', now - TELL_AGAIN_MS)]))
    .returning(['name', 'account_id as accountId'])
    .executeTakeFirst()
  if (!site) return
  const { name, accountId } = site
  const message = `The site cannot be served: ${fault}`
  const change = changeBy(tx, { actor: 'systems', about: { accountId, siteId }, now })
  await change.record({ action: actions['site.lost'], message })
  const owner = await tx.selectFrom('accounts').select('email').where('id', '=', accountId).executeTakeFirst()
  const paragraphs = [
    `The site ${name} cannot be served: ${fault}.`,
    'Visitors get an error page (503). Stead did not replace the missing file. Restore it from a backup, and the site works again.',
  ]
  for (const to of new Set([owner?.email, operatorEmail]))
    if (to && isOneMailbox(to))
      await enqueueMail(tx, { to, ...letter(`${name} cannot be served`, paragraphs) }, { now })
}
