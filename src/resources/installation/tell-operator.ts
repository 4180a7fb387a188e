import type { Tx } from '../../platform/db/database.ts'
import { isOneMailbox } from '../../platform/mail/address.ts'
import { letter } from '../../platform/mail/letter.ts'
import { enqueueMail } from '../../platform/mail/send-mail.job.ts'
import type { FailureContext } from '../../platform/operations/definition.ts'
import { firstAccount } from '../account/account.ts'
import { changeOfJob } from '../change.ts'
import { actions } from './actions.ts'
import { setFailing } from './installation.store.ts'

/**
 * The records could not be backed up. Who runs Stead gets a mail when it begins to fail, and no other until it has been well again; the
 * log of the account that was there first, which is theirs, says the same.
 */
export async function tellOperator(tx: Tx, context: FailureContext): Promise<void> {
  const { canceled, error, operationId } = context
  if (canceled || !(await setFailing(tx, context.now()))) return
  const account = await firstAccount(tx)
  if (!account) return
  const message = `The records of Stead could not be backed up: ${error}`
  await changeOfJob(tx, { ...context, siteId: null, accountId: account.id }).record({
    action: actions['records.backup_failed'],
    message,
  })
  if (!isOneMailbox(account.email)) return
  const mail = letter('The records of Stead could not be backed up', [
    `${message}.`,
    'Backups that are there already are kept. Stead tries again every hour, and writes no other mail of it until a backup has been taken.',
    `If the machine were lost now, a restore would bring back the records as they were at the last backup: stead backup list says when that was. What was tried: GET /v1/operations/${operationId}.`,
  ])
  await enqueueMail(tx, { to: account.email, ...mail }, { now: context.now() })
}
