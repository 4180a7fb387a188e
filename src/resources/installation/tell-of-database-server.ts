import type { Tx } from '../../platform/db/database.ts'
import { isOneMailbox } from '../../platform/mail/address.ts'
import { letter } from '../../platform/mail/letter.ts'
import { enqueueMail } from '../../platform/mail/send-mail.job.ts'
import { firstAccount } from '../account/account.ts'

/** Mails the operator that a host's MariaDB cannot be started. The caller keeps to one mail an outage. */
export async function tellOfDatabaseServer(
  tx: Tx,
  { host, fault, now }: { host: string; fault: string; now: number },
): Promise<void> {
  const account = await firstAccount(tx)
  if (!account || !isOneMailbox(account.email)) return
  const mail = letter(`MariaDB on ${host} cannot be started`, [
    `MariaDB on the host ${host} cannot be started: ${fault}.`,
    'Sites with their database on it cannot be reached. Stead tries again automatically, at least once a minute.',
    'For want of disk space: delete what is not needed on the disk of the data folder, or make the disk larger. /readyz shows what is free.',
  ])
  await enqueueMail(tx, { to: account.email, ...mail }, { now })
}
