import type { Database } from '../../platform/db/database.ts'
import { findAccountByEmail } from '../account/account.store.ts'

interface Ordered {
  readonly to?: string
  readonly subject?: string
  readonly text?: string
  /** Only for an invitation, whose text is written when it is sent. */
  readonly accountId?: number
  readonly from?: string
  readonly what?: string
}

/** Returns the mails that were enqueued for an address, oldest first. */
export async function mailsTo({ read }: Database, email: string): Promise<{ subject: string; text: string }[]> {
  const account = await findAccountByEmail(read, email)
  const rows = await read
    .selectFrom('operations')
    .select('input')
    .where('type', 'in', ['mail.send', 'password.mail_link'])
    .orderBy('id')
    .execute()
  return rows.flatMap(({ input }) => {
    const { to, subject = '', text = '', accountId, from, what } = JSON.parse(input) as Ordered
    if (to === email) return { subject, text }
    return account && accountId === account.id ? { subject: `${from} invites you to work on ${what}`, text: '' } : []
  })
}

export const subjectsTo = async (database: Database, email: string): Promise<string[]> =>
  (await mailsTo(database, email)).map(({ subject }) => subject)
