import { sql } from 'kysely'
import type { Tx } from '../../platform/db/database.ts'
import { type RowsAsked, rowsOfPage } from '../../platform/db/rows-of-page.ts'
import type { Note } from './note.ts'

const columns = [
  'id',
  'author',
  'editor',
  'subject',
  'body',
  'created_at as createdAt',
  'updated_at as updatedAt',
] as const

/** Newest first. */
export async function notesOfSite(tx: Tx, siteId: number, page: RowsAsked): Promise<Note[]> {
  const query = tx.selectFrom('notes').select(columns).where('site_id', '=', siteId).orderBy('id', 'desc')
  return rowsOfPage(query, page, { column: 'id', order: 'desc' }).execute()
}

export async function countNotes(tx: Tx, siteId: number): Promise<number> {
  const { count } = await tx
    .selectFrom('notes')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('site_id', '=', siteId)
    .executeTakeFirstOrThrow()
  return Number(count)
}

export async function findNote(tx: Tx, siteId: number, id: number): Promise<Note | undefined> {
  return tx.selectFrom('notes').select(columns).where('id', '=', id).where('site_id', '=', siteId).executeTakeFirst()
}

export async function insertNote(
  tx: Tx,
  values: { siteId: number; author: string; subject: string; body: string; now: number },
): Promise<Note> {
  return tx
    .insertInto('notes')
    .values({
      site_id: values.siteId,
      author: values.author,
      editor: values.author,
      subject: values.subject,
      body: values.body,
      size_bytes: noteSize(values),
      created_at: values.now,
      updated_at: values.now,
    })
    .returning(columns)
    .executeTakeFirstOrThrow()
}

/** @returns the note as it is now, or `undefined` when the site has no such note */
export async function changeNote(
  tx: Tx,
  values: {
    siteId: number
    id: number
    editor: string
    subject?: string | undefined
    body?: string | undefined
    now: number
  },
): Promise<Note | undefined> {
  const before = await findNote(tx, values.siteId, values.id)
  if (!before) return undefined
  const { subject = before.subject, body = before.body } = values
  return tx
    .updateTable('notes')
    .set({ editor: values.editor, updated_at: values.now, subject, body, size_bytes: noteSize({ subject, body }) })
    .where('id', '=', values.id)
    .where('site_id', '=', values.siteId)
    .returning(columns)
    .executeTakeFirst()
}

const noteSize = ({ subject, body }: { subject: string; body: string }): number =>
  Buffer.byteLength(subject) + Buffer.byteLength(body)

/** Counts the notes of a site, and their total size. */
export async function notesUsage(tx: Tx, siteId: number): Promise<{ count: number; bytes: number }> {
  const { count, bytes } = await tx
    .selectFrom('notes')
    .select([sql<number>`count(*)`.as('count'), sql<number>`coalesce(sum(size_bytes), 0)`.as('bytes')])
    .where('site_id', '=', siteId)
    .executeTakeFirstOrThrow()
  return { count: Number(count), bytes: Number(bytes) }
}

/** @returns false when the site has no such note */
export async function deleteNoteRow(tx: Tx, siteId: number, id: number): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('notes')
    .where('id', '=', id)
    .where('site_id', '=', siteId)
    .executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}

export async function deleteNotesOfSite(tx: Tx, siteId: number): Promise<void> {
  await tx.deleteFrom('notes').where('site_id', '=', siteId).execute()
}
