import type { Tx } from '../../platform/db/database.ts'
import { letter } from '../../platform/mail/letter.ts'
import { isOneMailbox } from '../../platform/mail/mail-address.ts'
import { enqueueMail } from '../../platform/mail/send-mail.job.ts'
import type { FailureContext } from '../../platform/operations/definition.ts'
import { firstAccount } from '../account/public.ts'
import { changeOfJob } from '../kit/change.ts'
import { actions } from './actions.ts'
import { setFailing } from './installation.store.ts'

/**
 * Reports that the control database could not be backed up. The operator gets a mail when it begins to fail, and no
 * other until it has succeeded again. The log of the first account, which is the operator's, says the same.
 */
export async function tellOperator(tx: Tx, context: FailureContext): Promise<void> {
  const { canceled, error } = context
  if (canceled || !(await setFailing(tx, context.now()))) return
  const account = await firstAccount(tx)
  if (!account) return
  const message = `The backup of Stead's own records failed: ${error}`
  await changeOfJob(tx, { ...context, siteId: null, accountId: account.id }).record({
    action: actions['records.backup_failed'],
    message,
  })
  if (!isOneMailbox(account.email)) return
  const mail = letter("The backup of Stead's own records failed", [
    `${message}.`,
    'Existing backups are kept. Stead retries every hour, and sends no other mail about this until a backup succeeds.',
    'If you lose the server now, a restore returns the records of the last backup. To see its time, run stead backup list. For details, open the operations:',
    { panel: '/operations' },
  ])
  await enqueueMail(tx, { to: account.email, ...mail }, { now: context.now() })
}
