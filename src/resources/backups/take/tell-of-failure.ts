import type { Tx } from '../../../platform/db/database.ts'
import { letter } from '../../../platform/mail/letter.ts'
import { isOneMailbox } from '../../../platform/mail/mail-address.ts'
import { countMail } from '../../../platform/mail/mail-limit.ts'
import { enqueueMail } from '../../../platform/mail/send-mail.job.ts'
import type { FailureContext } from '../../../platform/operations/definition.ts'
import { findAccount } from '../../account/public.ts'
import { raiseAlert } from '../../alerts/public.ts'
import type { Action } from '../../kit/action.ts'
import { changeOfJob } from '../../kit/change.ts'
import { findSite } from '../../sites/public.ts'
import { actions } from '../actions.ts'
import type { Backup, CompletedBackup } from '../backup.ts'
import { takeTelling } from '../schedule/schedule.store.ts'

const TELL_AGAIN_MS = 86_400_000

type Failure = Pick<FailureContext, 'operationId' | 'siteId' | 'accountId' | 'error' | 'now'>

/** Opens an alert for a scheduled backup that failed, and logs it at most once a day for each site. */
export async function tellOfFailure(tx: Tx, failure: Failure, backup: Pick<Backup, 'kind' | 'siteId'>): Promise<void> {
  const detail = failure.error ?? 'It failed'
  await raiseAlert(tx, { ...alertOfBackup(backup), detail }, failure.now())
  await logOnceADay(tx, failure, {
    siteId: backup.siteId,
    action: actions['backup.failed'],
    message: `The scheduled backup of the ${contentOf(backup)} failed: ${failure.error}`,
  })
}

const contentOf = ({ kind }: Pick<Backup, 'kind'>): string => (kind === 'fs' ? 'files' : 'database')

/** Returns the alert for the scheduled backups of one kind of a site. */
export const alertOfBackup = (backup: Pick<Backup, 'kind' | 'siteId'>) =>
  ({ kind: 'backup_failed', siteId: backup.siteId, subject: contentOf(backup) }) as const

/** Opens an alert for a backup that could not be restored in a test, and logs it. */
export async function tellOfProof(tx: Tx, failure: Failure, siteId: number): Promise<void> {
  const detail = `Stead restored the newest backups into an empty directory: ${failure.error}. If the site works, create on-demand backups. If not, repair it, because its backups have the same fault`
  await raiseAlert(tx, { kind: 'backup_proof_failed', siteId, detail }, failure.now())
  await logOnceADay(tx, failure, {
    siteId,
    action: actions['backup.proof_failed'],
    message: `Stead tested the newest backups by restoring them into an empty directory. The test failed: ${failure.error}`,
  })
}

interface News {
  readonly siteId: number
  readonly action: Action
  readonly message: string
  /** Subject of the mail, after the site's name. */
  readonly subject: string
  readonly advice: string
}

/** Reports that a backup was taken and lacks something that the one before had. */
export async function tellOfWarning(
  tx: Tx,
  context: Pick<Failure, 'operationId' | 'siteId' | 'accountId' | 'now'>,
  { siteId, warning }: { readonly siteId: number; readonly warning: string },
): Promise<void> {
  await tell(
    tx,
    { ...context, error: null },
    {
      siteId,
      action: actions['backup.limited'],
      message: `A database backup was completed with a warning. ${warning}`,
      subject: 'warning about database backups',
      advice:
        'Stead continues to back up the database. It sends this mail again if the warning changes, at most once an hour.',
    },
  )
}

/** Reports that backups have lost something that the site no longer has. */
export async function tellOfDamage(
  tx: Tx,
  context: Pick<Failure, 'operationId' | 'siteId' | 'accountId' | 'now'>,
  { siteId, backups }: { readonly siteId: number; readonly backups: readonly CompletedBackup[] },
): Promise<void> {
  const [first] = backups
  if (!first) return
  const others = backups.length > 1 ? ` and ${backups.length - 1} more` : ''
  await tell(
    tx,
    { ...context, error: null },
    {
      siteId,
      action: actions['backup.damaged'],
      message: `Backup ${first.id}${others} cannot be restored completely: the storage lost ${first.damage}`,
      subject: 'some backups are damaged',
      advice:
        'Lists of backups mark them as damaged. Stead verified the newest backup, and it is complete. Ask your operator to check the backup storage, because it may lose more data.',
    },
  )
}

async function logOnceADay(tx: Tx, failure: Failure, { siteId, action, message }: Omit<News, 'subject' | 'advice'>) {
  const now = failure.now()
  if (!(await takeTelling(tx, siteId, { now, unlessSince: now - TELL_AGAIN_MS }))) return
  const site = await findSite(tx, siteId)
  if (site) await changeOfJob(tx, { ...failure, siteId, accountId: site.accountId }).record({ action, message })
}

async function tell(tx: Tx, failure: Failure, { siteId, action, message, subject, advice }: News): Promise<void> {
  const now = failure.now()
  const site = await findSite(tx, siteId)
  if (!site) return
  await changeOfJob(tx, { ...failure, siteId, accountId: site.accountId }).record({ action, message })
  const owner = await findAccount(tx, site.accountId)
  if (!owner || !isOneMailbox(owner.email)) return
  const mail = letter(`${site.name}: ${subject}`, [`${site.name}: ${message}.`, advice])
  // When the storage is away, all sites of an account report it.
  const about = { accountId: owner.id, to: owner.email, says: mail.subject, now }
  if ((await countMail(tx, about)) === 'send') await enqueueMail(tx, { to: owner.email, ...mail }, { now })
}
