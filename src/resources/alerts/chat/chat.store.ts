import { type RawBuilder, type Selectable, type SqlBool, sql } from 'kysely'
import type { Tx } from '../../../platform/db/database.ts'
import { type RowsAsked, rowsOfPage } from '../../../platform/db/rows-of-page.ts'
import { HOUR_MS } from '../../../platform/durations.ts'
import type { AlertChatRow } from '../tables.ts'
import type { AlertChat } from './chat.ts'

const chatOf = (row: Selectable<AlertChatRow>): AlertChat => ({
  id: row.id,
  accountId: row.account_id,
  urlSealed: row.url_sealed,
  host: row.host,
  description: row.description,
  kinds: row.kinds === null ? null : JSON.parse(row.kinds),
  testAt: row.test_at,
  sentAt: row.sent_at,
  failingSince: row.failing_since,
  fault: row.fault,
  createdAt: row.created_at,
})

/** Returns the rooms of an account, in order of id. */
export async function chatsOfAccount(tx: Tx, accountId: number, page?: RowsAsked): Promise<AlertChat[]> {
  const query = tx.selectFrom('alert_chats').selectAll().where('account_id', '=', accountId).orderBy('id')
  const rows = await (page ? rowsOfPage(query, page, { column: 'id', order: 'asc' }) : query).execute()
  return rows.map(chatOf)
}

export async function countChats(tx: Tx, accountId: number): Promise<number> {
  const { count } = await tx
    .selectFrom('alert_chats')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('account_id', '=', accountId)
    .executeTakeFirstOrThrow()
  return Number(count)
}

export async function findChat(tx: Tx, accountId: number, id: number): Promise<AlertChat | undefined> {
  const row = await tx
    .selectFrom('alert_chats')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('id', '=', id)
    .executeTakeFirst()
  return row && chatOf(row)
}

export async function insertChat(
  tx: Tx,
  accountId: number,
  draft: Pick<AlertChat, 'urlSealed' | 'host' | 'description' | 'kinds'>,
  now: number,
): Promise<AlertChat> {
  const row = await tx
    .insertInto('alert_chats')
    .values({
      ...{ account_id: accountId, url_sealed: draft.urlSealed, host: draft.host, description: draft.description },
      ...{ kinds: draft.kinds && JSON.stringify(draft.kinds), next_at: 0, created_at: now },
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  return chatOf(row)
}

/** Deletes a room, with its messages. @returns whether it existed until now */
export async function deleteChatRow(tx: Tx, id: number): Promise<boolean> {
  const deleted = await tx.deleteFrom('alert_chats').where('id', '=', id).returning('id').execute()
  await tx.deleteFrom('alert_notices').where('chat_id', '=', id).execute()
  return deleted.length > 0
}

export async function changeChat(tx: Tx, id: number, changes: Partial<Omit<AlertChatRow, 'id'>>): Promise<void> {
  await tx.updateTable('alert_chats').set(changes).where('id', '=', id).execute()
}

/** A clock that was set back leaves times that no message waits for. */
const MOST_WAIT_MS = 2 * HOUR_MS

/**
 * Takes a room with something to send. Other processes leave it alone until `untilMs`.
 * @param after the id of the room before
 */
export async function takeChat(tx: Tx, after: number, now: number, untilMs: number): Promise<AlertChat | undefined> {
  const isDue = (column: 'next_at' | 'due_at'): RawBuilder<SqlBool> =>
    sql`(${sql.ref(column)} <= ${now} or ${sql.ref(column)} > ${now + MOST_WAIT_MS})`
  const next = tx
    .selectFrom('alert_chats')
    .select('id')
    .where('id', '>', after)
    .where(isDue('next_at'))
    .where(({ or, exists, selectFrom, eb }) =>
      or([
        eb('test_at', 'is not', null),
        exists(
          selectFrom('alert_notices')
            .select('alert_id')
            .whereRef('chat_id', '=', 'alert_chats.id')
            .where('due_at', 'is not', null)
            .where(isDue('due_at')),
        ),
      ]),
    )
    .orderBy('id')
    .limit(1)
  const row = await tx
    .updateTable('alert_chats')
    .set({ next_at: untilMs })
    .where('id', 'in', next)
    .where(isDue('next_at'))
    .returningAll()
    .executeTakeFirst()
  return row && chatOf(row)
}
