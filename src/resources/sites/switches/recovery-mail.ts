import type { RecoveryLink } from '../../../hosting/recovery-links/recovery-links.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { letter } from '../../../platform/mail/letter.ts'
import { isOneMailbox } from '../../../platform/mail/mail-address.ts'
import { enqueueMail } from '../../../platform/mail/send-mail.job.ts'
import { changeBy } from '../../kit/change.ts'
import { actions } from '../actions.ts'

/** WordPress creates one link a day, and another one after it was used. A site that creates more is not trusted. */
const TELL_AGAIN_MS = 3_600_000

/**
 * Sends the site's owner a link into recovery mode that WordPress has created, at most one an hour. The link still
 * requires a password of the site, so it may stay in the database as long as the mail does. A link to another site is
 * dropped.
 */
export async function tellOfRecovery(tx: Tx, siteId: number, link: RecoveryLink, now: number): Promise<void> {
  const { hostname } = new URL(link.url)
  const site = await tx
    .updateTable('sites')
    .set({ recovery_told_at: now })
    .where('id', '=', siteId)
    .where('deleted_at', 'is', null)
    .where(({ eb, or }) => or([eb('recovery_told_at', 'is', null), eb('recovery_told_at', '<', now - TELL_AGAIN_MS)]))
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('routes')
          .select('host_name')
          .whereRef('routes.site_id', '=', 'sites.id')
          .where('host_name', '=', hostname),
      ),
    )
    .returning(['name', 'account_id as accountId'])
    .executeTakeFirst()
  if (!site) return
  const { name, accountId } = site
  const broken = link.cause ? `wp-content/${link.cause}` : 'a plugin or the theme'
  const message = `Pages fail with a fatal error in ${broken}. Stead sent the owner a link to recovery mode`
  const change = changeBy(tx, { actor: 'systems', about: { accountId, siteId }, now })
  await change.record({ action: actions['wordpress.recovery_mode'], message })
  const owner = await tx.selectFrom('accounts').select('email').where('id', '=', accountId).executeTakeFirst()
  if (owner && isOneMailbox(owner.email))
    await enqueueMail(tx, { to: owner.email, ...recoveryMail({ siteId, name, broken, url: link.url }) }, { now })
}

function recoveryMail({ siteId, name, broken, url }: { siteId: number; name: string; broken: string; url: string }) {
  return letter(`${name}: a fatal error locks you out of WordPress`, [
    `Pages of the site ${name} fail with a fatal error in ${broken}.`,
    'Open this link to log in to WordPress in recovery mode, where WordPress pauses the broken code until you repair or deactivate it. The link works once and expires in one day. You need your WordPress password:',
    { link: url },
    'If that does not help, turn on safe mode, which starts the site without plugins and theme. Log in, deactivate the broken code, and turn safe mode off. The page of the site has the switch, and can reset your WordPress password:',
    { panel: `/sites/${siteId}/overview` },
  ])
}
