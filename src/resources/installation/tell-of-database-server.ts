import type { Tx } from '../../platform/db/database.ts'
import { letter } from '../../platform/mail/letter.ts'
import { isOneMailbox } from '../../platform/mail/mail-address.ts'
import { enqueueMail } from '../../platform/mail/send-mail.job.ts'
import { firstAccount } from '../account/public.ts'

/** Mails the operator that a host's MariaDB cannot be started. The caller limits this to one mail an outage. */
export async function tellOfDatabaseServer(
  tx: Tx,
  { host, fault, now }: { host: string; fault: string; now: number },
): Promise<void> {
  const account = await firstAccount(tx)
  if (!account || !isOneMailbox(account.email)) return
  const mail = letter(`MariaDB on ${host} does not start`, [
    `MariaDB on the host ${host} does not start: ${fault}.`,
    'Sites that use this database server do not work. Stead retries automatically, at least once a minute.',
    'The disk is full. Delete data on the disk of the data folder, or enlarge the disk. /readyz shows the free space.',
  ])
  await enqueueMail(tx, { to: account.email, ...mail }, { now })
}
