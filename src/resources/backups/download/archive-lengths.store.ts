import { ARCHIVE_FORMAT } from '../../../backups/archive/archive.ts'
import { ArchiveLengths } from '../../../backups/archive/archive-lengths.ts'
import type { Tx } from '../../../platform/db/database.ts'

/** Returns what is known about a backup's archive: nothing if it was never created. */
export async function loadLengths(tx: Tx, backupId: number): Promise<ArchiveLengths> {
  const row = await tx
    .selectFrom('archive_lengths')
    .select(['places', 'whole'])
    .where('backup_id', '=', backupId)
    .where('format', '=', ARCHIVE_FORMAT)
    .executeTakeFirst()
  return row ? ArchiveLengths.decode(Buffer.from(row.places, 'base64'), row.whole === 1) : new ArchiveLengths()
}

/** Returns what is known about the longest archive that begins with a core. */
export async function lengthsOfCore(tx: Tx, core: string): Promise<ArchiveLengths | undefined> {
  const row = await tx
    .selectFrom('archive_lengths')
    .select('places')
    .where('core', '=', core)
    .where('format', '=', ARCHIVE_FORMAT)
    .orderBy('blocks', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row && ArchiveLengths.decode(Buffer.from(row.places, 'base64'), false)
}

/**
 * Stores what is known, unless another process has found out more. Stores nothing for a backup that is gone.
 * @param core names the core that the archive begins with
 */
export async function saveLengths(
  tx: Tx,
  backupId: number,
  lengths: ArchiveLengths,
  core: string | null,
): Promise<void> {
  const { bytes, isWhole } = lengths.encode()
  const whole: 0 | 1 = isWhole ? 1 : 0
  const values = { format: ARCHIVE_FORMAT, blocks: lengths.count, whole, places: bytes.toString('base64'), core }
  const backup = await tx.selectFrom('backups').select('id').where('id', '=', backupId).executeTakeFirst()
  if (!backup) return
  if (isWhole)
    await tx
      .updateTable('backups')
      .set({ archive_bytes: lengths.totalBytes as number })
      .where('id', '=', backupId)
      .execute()
  await tx
    .insertInto('archive_lengths')
    .values({ backup_id: backupId, ...values })
    .onConflict((conflict) =>
      conflict
        .column('backup_id')
        .doUpdateSet(values)
        .where(({ eb, or }) =>
          or([
            eb('archive_lengths.format', '!=', values.format),
            eb('archive_lengths.blocks', '<', values.blocks),
            eb('archive_lengths.whole', '<', values.whole),
          ]),
        ),
    )
    .execute()
}
