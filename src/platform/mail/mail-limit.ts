import { hash } from 'node:crypto'
import { type SqlBool, sql } from 'kysely'
import { isPostgres, lockForUpdate, type Tx } from '../db/database.ts'
import { HOUR_MS } from '../durations.ts'

/*
 * Prevents users from filling others' mailboxes through Stead. The limits count the account that causes a mail, its
 * recipient, and its content.
 */

/** The limits per hour to one address: for one account, and for all accounts together. */
const TO_ADDRESS = { ofAccount: 10, ofAll: 30 }
/** The limit per hour for mails of one account to all addresses. */
export const MAILS_OF_ACCOUNT = 200

/** The decision on a mail. `repeated`: the same mail was sent within the hour. */
export type MailVerdict = 'send' | 'repeated' | 'address_full' | 'account_full'

/**
 * Decides whether a mail may be sent, and counts it if so.
 * @param accountId the account that causes it
 * @param says subject and text, by which repeated mails are recognized
 */
export async function countMail(
  tx: Tx,
  { accountId, to, says, now }: { accountId: number; to: string; says: string; now: number },
): Promise<MailVerdict> {
  const contentHash = hash('sha256', says, 'base64url')
  const address = to.toLowerCase()
  // Simultaneous senders are counted one after another, whichever accounts they have.
  await lockForUpdate(tx, 'accounts', accountId)
  if (isPostgres(tx)) await sql`select pg_advisory_xact_lock(hashtextextended(${address}, 0))`.execute(tx)
  const { repeated, ours, all } = await countsOf(tx, accountId, address, contentHash, now)
  if (repeated > 0) return 'repeated'
  if (ours >= TO_ADDRESS.ofAccount || all >= TO_ADDRESS.ofAll) return 'address_full'
  if ((await mailsOf(tx, accountId, now)) >= MAILS_OF_ACCOUNT) return 'account_full'
  await tx
    .insertInto('mail_counts')
    .values({ account_id: accountId, address, subject_hash: contentHash, created_at: now })
    .execute()
  return 'send'
}

async function countsOf(tx: Tx, accountId: number, address: string, contentHash: string, now: number) {
  const sumOf = (condition: ReturnType<typeof sql<SqlBool>>) =>
    sql<number>`coalesce(sum(case when ${condition} then 1 else 0 end), 0)`
  const row = await tx
    .selectFrom('mail_counts')
    .select([
      sumOf(sql<SqlBool>`account_id = ${accountId} and subject_hash = ${contentHash}`).as('repeated'),
      sumOf(sql<SqlBool>`account_id = ${accountId}`).as('ours'),
      sql<number>`count(*)`.as('all'),
    ])
    .where('address', '=', address)
    .where('created_at', '>', now - HOUR_MS)
    .executeTakeFirstOrThrow()
  return { repeated: Number(row.repeated), ours: Number(row.ours), all: Number(row.all) }
}

/** Returns how many mails an account had sent within the hour. */
async function mailsOf(tx: Tx, accountId: number, now: number): Promise<number> {
  const { count } = await tx
    .selectFrom('mail_counts')
    .select(sql<number>`count(*)`.as('count'))
    .where('account_id', '=', accountId)
    .where('created_at', '>', now - HOUR_MS)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/**
 * Deletes expired counts of mails, the oldest first.
 * @returns how many it deleted; call again until it is 0
 */
export async function forgetMailCounts(tx: Tx, now: number, most: number): Promise<number> {
  const old = tx
    .selectFrom('mail_counts')
    .select('id')
    .where('created_at', '<', now - HOUR_MS)
    .orderBy('created_at')
    .limit(most)
  const { numDeletedRows } = await tx.deleteFrom('mail_counts').where('id', 'in', old).executeTakeFirst()
  return Number(numDeletedRows)
}
