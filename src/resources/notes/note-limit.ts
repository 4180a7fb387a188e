import type { Tx } from '../../platform/db/database.ts'
import { Problem } from '../../platform/http/problem.ts'
import { notesUsage } from './note.store.ts'
import { problems } from './problems.ts'

const MOST_NOTES = 1000
const MOST_BYTES = 10 << 20

/**
 * Checks the limit after a note was written or changed, in the same transaction.
 * @throws Problem `note_limit_reached`
 */
export async function checkNoteLimit(tx: Tx, siteId: number): Promise<void> {
  const { count, bytes } = await notesUsage(tx, siteId)
  if (count > MOST_NOTES || bytes > MOST_BYTES)
    throw new Problem(problems.note_limit_reached, { notes: MOST_NOTES, megabytes: MOST_BYTES >> 20 })
}
